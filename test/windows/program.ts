import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { onTestFinished } from 'vitest';
import { askByFile } from '../../src/host/windows/request-file.js';
import { eventually } from '../support/eventually.js';
import { native } from './native.js';
import { spawn, spawnSync } from './spawn.js';

const EVICTD = resolve('dist/evictd.js');

export interface Ran {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command of evictd to its end. */
export function evictd(...args: readonly string[]): Ran {
  const { status, stdout, stderr } = spawnSync(process.execPath, [EVICTD, ...args], { encoding: 'utf8' });
  return { status, stdout, stderr };
}

/** A journal record. */
export interface JournalLine {
  readonly type: string;
  readonly result?: string;
  readonly action?: string;
  readonly message: string;
  readonly victim?: { readonly name: string };
}

/** `evictd run` with its own directories and configuration. */
export class Running {
  readonly directory = mkdtempSync(join(tmpdir(), 'evictd-test-'));
  readonly #configFile = join(this.directory, 'config.yaml');
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;
  #said = '';

  constructor(config: object, ...args: readonly string[]) {
    this.configure(config);
    this.#child = spawn(process.execPath, [EVICTD, 'run', '--config', this.#configFile, ...args], { stdio: ['ignore', 'ignore', 'pipe'] });
    this.#ended = once(this.#child, 'exit');
    this.#child.stderr?.on('data', (text: Buffer) => (this.#said += text.toString()));
    onTestFinished(async () => {
      this.#child.kill();
      await this.#ended;
      rmSync(this.directory, { recursive: true, force: true });
    });
  }

  get said(): string {
    return this.#said;
  }

  get exitCode(): number | null {
    return this.#child.exitCode;
  }

  /** JSON is YAML. */
  configure(config: object): void {
    const own = {
      stateDirectory: this.directory,
      runtimeDirectory: this.directory,
      metrics: { listen: '127.0.0.1:0' },
      monitoringInterval: '1s',
    };
    writeFileSync(this.#configFile, JSON.stringify({ ...own, ...config }));
  }

  /** Runs a command with the same configuration. */
  command(name: string, ...args: readonly string[]): Ran {
    return evictd(name, '--config', this.#configFile, ...args);
  }

  async says(text: string): Promise<void> {
    await eventually(`evictd says ${text}`, () => this.#said.includes(text), { ms: 30_000, circumstances: () => this.#said });
  }

  journal(type: string): JournalLine[] {
    let text = '';
    try {
      text = readFileSync(join(this.directory, 'journal.jsonl'), 'utf8');
    } catch {
      // nothing was written yet
    }
    const lines = text.split('\n').slice(0, -1);
    return lines.map((line) => JSON.parse(line) as JournalLine).filter((line) => line.type === type);
  }

  async recorded(type: string): Promise<JournalLine> {
    return eventually(`the journal has a record ${type}`, () => this.journal(type)[0], { ms: 30_000, circumstances: () => this.#said });
  }

  async metrics(): Promise<string> {
    const [, port = ''] = /metrics are served on 127\.0\.0\.1:(\d+)/.exec(this.#said) ?? [];
    return new Promise((resolve, reject) => {
      // Not `fetch`: Wine refuses how it connects.
      get(`http://127.0.0.1:${port}/metrics`, (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (part: string) => (text += part));
        answer.on('end', () => {
          resolve(text);
        });
      }).on('error', reject);
    });
  }

  /** Requests the stop by file, as the demo does. Resolves with the exit code. */
  async stop(): Promise<number | null> {
    askByFile(join(this.directory, 'machine.lock'), this.#child.pid ?? 0, 'stop');
    await this.#ended;
    return this.#child.exitCode;
  }
}

/** Prints its process id and that of its child; both hold memory until they are terminated. */
const FAMILY = `
  const held = Buffer.alloc(16 << 20, 1);
  if (process.argv[1] === 'child') setTimeout(() => held, 600_000);
  else {
    const child = require('node:child_process').spawn(process.execPath, ['-e', process.env.EVICTD_TEST_FAMILY, 'child'], { stdio: 'ignore' });
    process.stdout.write(process.pid + ' ' + child.pid + '\\n');
    setTimeout(() => held, 600_000);
  }`;

/** A process and its child. */
export class Family {
  readonly pids: readonly number[];

  private constructor(pids: readonly number[]) {
    this.pids = pids;
  }

  /** @param job  assigned before the child is started */
  static async start(program = process.execPath, job?: string): Promise<Family> {
    const launched = spawn(program, ['-e', `process.stdin.once('data', () => { ${FAMILY} })`], {
      stdio: ['pipe', 'pipe', 'ignore'],
      env: { ...process.env, EVICTD_TEST_FAMILY: FAMILY },
    });
    const ended = once(launched, 'exit');
    if (job !== undefined) assign(job, launched.pid ?? 0);
    launched.stdin.write('go\n');
    const [text] = (await once(launched.stdout, 'data')) as [Buffer];
    const family = new Family(text.toString().trim().split(' ').map(Number));
    onTestFinished(async () => {
      for (const pid of family.living()) kill(pid);
      await ended;
    });
    return family;
  }

  /** Process ids that still run. */
  living(): readonly number[] {
    const there = new Set(native.processes().map(({ pid }) => pid));
    return this.pids.filter((pid) => there.has(pid));
  }

  async ends(): Promise<void> {
    await eventually(`${this.pids.join(' and ')} have ended`, () => this.living().length === 0);
  }
}

/** Puts a process into a new job that exists until the end of the test. */
function assign(name: string, pid: number): void {
  const job = new native.Job(name, true);
  const createdAt = native.processes().find((process) => process.pid === pid)?.createdAt ?? 0n;
  const handle = new native.ProcessHandle(pid, createdAt, () => undefined);
  job.assign(handle);
  handle.close();
  onTestFinished(() => {
    job.close();
  });
}

function kill(pid: number): void {
  try {
    process.kill(pid);
  } catch {
    // it has ended
  }
}
