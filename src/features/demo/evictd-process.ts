import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { attempt, EvictdError } from '../../errors.js';
import type { DemoNode } from './demo-node.js';

const STOP_WITHIN_MS = 10_000;
const JOURNAL_FILE = 'journal.jsonl';

/** The fields of a journal record that the demo reads (docs/journal.md). */
export interface DemoRecord {
  readonly type: string;
  readonly message: string;
  readonly wake?: string;
  readonly result?: string;
  readonly victim?: { readonly name: string };
  readonly spansMs?: Readonly<Record<string, number>>;
  readonly ranking?: readonly {
    readonly place: number;
    readonly name: string;
    readonly priority: number;
    readonly workingSetBytes: number;
    readonly requestBytes: number;
    readonly exceedsRequest: boolean;
    readonly protectedBecause?: string;
  }[];
  readonly [field: string]: unknown;
}

interface LogLine {
  readonly level: string;
  readonly msg: string;
  readonly code?: string;
}

export interface DemoGuardOptions {
  readonly node: DemoNode;
  /** Recording file; undefined: no recording. */
  readonly record: string | undefined;
}

/** An `evictd run` on the demo's node, with directories of its own, apart from any other evictd. */
export class DemoGuard {
  readonly #node: DemoNode;
  readonly #directory: string;
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  #port: string | undefined;
  #lastMessage = '';
  /** Its warning about the recording; undefined: none so far. */
  recordingProblem: string | undefined;

  /** @param onLine  gets each log line */
  constructor({ node, record }: DemoGuardOptions, onLine: (level: string, message: string) => void) {
    this.#node = node;
    this.#directory = makeDirectory(node.inMemory);
    const file = join(this.#directory, 'config.yaml');
    writeFileSync(file, configuration(node, this.#directory), { mode: 0o600 });
    const [, evictd = ''] = process.argv;
    const recording = record === undefined ? [] : ['--record', resolve(record)];
    this.#child = spawn(process.execPath, [...process.execArgv, evictd, 'run', '--config', file, ...recording], {
      detached: node.detached,
      windowsHide: true,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.#ended = new Promise((resolve) => this.#child.once('exit', () => resolve()).once('error', () => resolve()));
    if (this.#child.stderr) {
      createInterface({ input: this.#child.stderr }).on('line', (text) => {
        const { level, msg, code } = parsed(text);
        this.#lastMessage = msg;
        this.#port ??= /^metrics are served on .*:(\d+)/.exec(msg)?.[1];
        if (code === 'EVICTD_RECORDING_WRITE' || code === 'EVICTD_RECORDING_LOST') this.recordingProblem ??= msg;
        onLine(level, msg);
      });
    }
  }

  get running(): boolean {
    return this.#child.pid !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Asks /readyz. Throws if it has ended. */
  async ready(): Promise<boolean> {
    if (!this.running)
      throw new EvictdError(
        'EVICTD_DEMO_GUARD',
        `evictd run ended: ${this.end ?? ''}${this.#lastMessage === '' ? '' : `; ${this.#lastMessage}`}`,
      );
    if (this.#port === undefined) return false;
    return answersOk(`http://127.0.0.1:${this.#port}/readyz`);
  }

  journal(): DemoRecord[] {
    const text = attempt(() => readFileSync(join(this.#directory, JOURNAL_FILE), 'utf8'));
    if (text === undefined) return []; // not written yet
    const whole = text.slice(0, text.lastIndexOf('\n') + 1);
    return whole
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as DemoRecord);
  }

  /** Signal or exit code; undefined: still running. */
  get end(): string | undefined {
    const { exitCode, signalCode } = this.#child;
    return signalCode ?? (exitCode === null ? undefined : `exit code ${String(exitCode)}`);
  }

  /** Stops it, by SIGKILL after a timeout. */
  async stop(): Promise<void> {
    if (this.running) this.#node.stop(this.#child, this.#directory);
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), STOP_WITHIN_MS);
    await this.#ended;
    clearTimeout(timer);
  }

  removeFiles(): void {
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

function answersOk(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    get(url, (answer) => {
      answer.resume();
      resolve(answer.statusCode === 200);
    }).on('error', () => {
      resolve(false);
    });
  });
}

/** @param inMemory  a directory in memory, if there is one */
function makeDirectory(inMemory: string | undefined): string {
  const name = `evictd-demo-${String(process.pid)}-`;
  return attempt(() => mkdtempSync(join(inMemory ?? tmpdir(), name))) ?? mkdtempSync(join(tmpdir(), name));
}

function parsed(text: string): LogLine {
  return attempt(() => JSON.parse(text) as LogLine) ?? { level: 'error', msg: text }; // written before the log is open
}

/** JSON is YAML. */
function configuration(node: DemoNode, directory: string): string {
  return JSON.stringify({
    apiVersion: 'evictd.dev/v1',
    kind: 'EvictdConfiguration',
    ...node.settings(),
    rules: [
      { match: { name: node.nameOf('db') }, critical: true },
      { match: { name: node.nameOf('web') }, requests: { memory: '64Mi' } },
      { match: { name: node.nameOf('batch') }, priority: -10 },
    ],
    metrics: { listen: '127.0.0.1:0' },
    stateDirectory: directory,
    runtimeDirectory: directory,
    log: { format: 'json' },
  });
}
