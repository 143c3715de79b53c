import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdirSync, writeFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { eventually } from '../support/eventually.js';
import { stateOf } from '../support/process-state.js';
import type { See } from './seen.js';

/** As long as a start may take on a machine that does much else. */
const START_MS = 120_000;

/** `evictd run` under chaos: stopped, killed and started again with the same directories. */
export class Guard {
  readonly #directory: string;
  readonly #see: See;
  readonly #children: ChildProcess[] = [];
  readonly #expected = new Set<ChildProcess>();
  #child: ChildProcess | undefined;
  #port: string | undefined;
  #closed = false;

  /** `directory/state` exists: the state directory. */
  constructor(directory: string, see: See) {
    this.#directory = directory;
    this.#see = see;
    mkdirSync(join(directory, 'run'));
  }

  configure(config: Readonly<Record<string, unknown>>): void {
    const whole = {
      apiVersion: 'evictd.dev/v1',
      kind: 'EvictdConfiguration',
      metrics: { listen: '127.0.0.1:0' },
      stateDirectory: join(this.#directory, 'state'),
      runtimeDirectory: join(this.#directory, 'run'),
      log: { format: 'json' },
      ...config,
    };
    writeFileSync(join(this.#directory, 'config.yaml'), JSON.stringify(whole), { mode: 0o600 });
  }

  /** Resolves when it guards. */
  async start(): Promise<void> {
    if (this.#closed) throw new Error('the run was interrupted');
    const child = spawn(process.execPath, [resolve('dist/evictd.js'), 'run', '--config', join(this.#directory, 'config.yaml')], {
      stdio: ['ignore', 'ignore', 'pipe'],
      detached: true, // Ctrl-C is for the driver, which ends it
    });
    if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_HIGHEST); // as its unit has from the start
    this.#child = child;
    this.#children.push(child);
    this.#port = undefined;
    const log = createWriteStream(join(this.#directory, 'log'), { flags: 'a' });
    createInterface({ input: child.stderr }).on('line', (line) => {
      log.write(`${line}\n`);
      this.#port ??= /metrics are served on [^"]*:(\d+)/.exec(line)?.[1];
    });
    child.on('exit', () => {
      if (!this.#expected.has(child)) this.#state('lost');
    });
    await eventually('evictd guards', () => isOver(child) || this.#isHealthy(), { ms: START_MS });
    this.#state('guards');
  }

  async pauseFor(wait: () => Promise<void>): Promise<void> {
    this.#state('stopped');
    this.#child?.kill('SIGSTOP');
    await wait();
    this.#child?.kill('SIGCONT');
    this.#state('guards');
  }

  /** Resolves when it cannot run any more: a thread that waits for a filesystem may keep a zombie. */
  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    this.#state('dead');
    this.#expected.add(child);
    child.kill(signal);
    await eventually('evictd has ended', () => ['Z', 'X', undefined].includes(stateOf(child.pid ?? 0)), { ms: START_MS });
  }

  reload(): void {
    this.#child?.kill('SIGHUP');
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const child of this.#children) {
      this.#expected.add(child);
      if (isOver(child)) continue;
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
  }

  #state(state: 'guards' | 'stopped' | 'dead' | 'lost'): void {
    this.#see({ kind: 'evictd', state });
  }

  async #isHealthy(): Promise<boolean> {
    if (this.#port === undefined) return false;
    const answer = await fetch(`http://127.0.0.1:${this.#port}/healthz`).catch(() => undefined);
    await answer?.text();
    return answer?.ok === true;
  }
}

function isOver({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}
