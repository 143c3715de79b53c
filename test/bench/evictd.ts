import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { eventually } from '../support/eventually.js';
import type { Bench } from './benchmark.js';
import { SCRATCH } from './tree.js';

/** The command line as it is shipped. */
export const EVICTD = resolve('dist/evictd.js');

/** In a mount namespace that ends with the process. */
const READ_ONLY = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"';

export interface JournalLine {
  readonly type: string;
  readonly decision?: number;
  readonly wake?: string;
  readonly wakeAtNs?: number | string;
  readonly result?: string;
  readonly victim?: { readonly name: string };
  readonly spansMs?: Readonly<Record<string, number>>;
}

/** A running `evictd run` with its own directories and port; ended after the benchmark. */
export class RunningEvictd {
  readonly #child: ChildProcess;
  readonly #directory: string;
  readonly #file: string;
  #port: string | undefined;
  #lastLine = '';

  private constructor(bench: Pick<Bench, 'cleanup'>, config: Readonly<Record<string, unknown>>, readOnly: string | undefined) {
    this.#directory = mkdtempSync(join(SCRATCH, 'evictd-bench-'));
    this.#file = join(this.#directory, 'config.yaml');
    this.#configure(config);
    // A separate session as for a service: priority counts within a session first (sched(7), autogroup).
    const run = [process.execPath, EVICTD, 'run', '--config', this.#file];
    const [command = '', ...args] = readOnly === undefined ? run : ['unshare', '--mount', '/bin/sh', '-c', READ_ONLY, readOnly, ...run];
    const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'], detached: true });
    createInterface({ input: child.stderr }).on('line', (line) => {
      this.#lastLine = line;
      this.#port ??= /metrics are served on [^"]*:(\d+)/.exec(line)?.[1];
    });
    const ended = once(child, 'exit');
    bench.cleanup(async () => {
      child.kill('SIGKILL');
      await ended;
      rmSync(this.#directory, { recursive: true, force: true });
    });
    this.#child = child;
  }

  /** Resolves when it guards. `readOnly`: a file mounted read-only for evictd alone. */
  static async start(bench: Pick<Bench, 'cleanup'>, config: Readonly<Record<string, unknown>>, readOnly?: string): Promise<RunningEvictd> {
    const evictd = new RunningEvictd(bench, config, readOnly);
    await eventually('evictd guards', () => {
      if (evictd.#child.exitCode !== null) throw new Error(`evictd has ended: ${evictd.#lastLine}`);
      return evictd.#port;
    });
    return evictd;
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get running(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Its last log lines, with the reason if it has ended. */
  get lastLine(): string {
    return this.#lastLine;
  }

  /** Does not wait until it is in effect. */
  reload(config: Readonly<Record<string, unknown>>): void {
    this.#configure(config);
    this.#child.kill('SIGHUP');
  }

  async scrape(): Promise<string> {
    const response = await fetch(`http://127.0.0.1:${this.#port ?? ''}/metrics`);
    return response.text();
  }

  /** Complete lines. */
  journal(): JournalLine[] {
    try {
      const text = readFileSync(join(this.#directory, 'state/journal.jsonl'), 'utf8');
      const whole = text.slice(0, text.lastIndexOf('\n') + 1).split('\n');
      return whole.filter(Boolean).map((line) => JSON.parse(line) as JournalLine);
    } catch {
      return []; // nothing was recorded yet
    }
  }

  #configure(config: Readonly<Record<string, unknown>>): void {
    const whole = {
      apiVersion: 'evictd.dev/v1',
      kind: 'EvictdConfiguration',
      metrics: { listen: '127.0.0.1:0' },
      stateDirectory: join(this.#directory, 'state'),
      runtimeDirectory: join(this.#directory, 'run'),
      log: { format: 'json' },
      evictionBudget: { max: 1_000, window: '1m' }, // a benchmark evicts more than evictd does by default
      ...config,
    };
    writeFileSync(this.#file, JSON.stringify(whole), { mode: 0o600 });
  }
}
