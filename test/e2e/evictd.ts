import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import { SLOWNESS } from '../support/slowness.js';
import { until } from './wait.js';

/** The command line as it is shipped. */
export const EVICTD = resolve('dist/evictd.js');

/** A journal record; tests assert the fields that they need. */
export interface JournalLine {
  readonly time: string;
  readonly type: string;
  readonly node: string;
  readonly message: string;
  readonly [field: string]: unknown;
}

export interface LogLine {
  readonly level: string;
  readonly msg: string;
  readonly code?: string;
}

export interface RunOptions {
  /** Merged over a configuration that watches memory only, with directories of its own. */
  readonly config: Readonly<Record<string, unknown>>;
  readonly args?: readonly string[];
  /** A command that ends in exec of its arguments: ['unshare', '-m', 'sh', '-c', '…; exec "$@"', 'sh']. */
  readonly through?: readonly string[];
  readonly directory?: string;
  /** A descriptor for standard error instead of a pipe. */
  readonly stderr?: number;
}

/** A running `evictd run`; it is killed and its directory removed after the test. */
export class Evictd {
  readonly directory: string;
  readonly configFile: string;
  readonly child: ChildProcess;
  readonly log: LogLine[] = [];
  readonly #exit: Promise<number | NodeJS.Signals>;
  #port: number | undefined;
  #stateDirectory = '';

  constructor({ config, args = [], through = [], directory = scratchDirectory(), stderr }: RunOptions) {
    this.directory = directory;
    this.configFile = join(directory, 'config.yaml');
    this.configure(config);
    const command = [...through, process.execPath, EVICTD, 'run', '--config', this.configFile, ...args];
    this.child = spawn(command[0] ?? '', command.slice(1), { stdio: ['ignore', 'inherit', stderr ?? 'pipe'] });
    this.#exit = once(this.child, 'exit').then(([code, signal]) => (code ?? signal) as number | NodeJS.Signals);
    if (this.child.stderr) {
      createInterface({ input: this.child.stderr }).on('line', (line) => {
        this.#logged(line);
      });
    }
    onTestFinished(async () => {
      this.child.kill('SIGKILL');
      await this.#exit;
      rmSync(directory, { recursive: true, force: true });
    });
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  get running(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  get journalFile(): string {
    return join(this.#stateDirectory, 'journal.jsonl');
  }

  /** Replaces the configuration file. */
  configure(config: Readonly<Record<string, unknown>>): void {
    const {
      evictionHard,
      stateDirectory = join(this.directory, 'state'),
      ...rest
    } = config as {
      evictionHard?: object;
      stateDirectory?: string;
    };
    this.#stateDirectory = stateDirectory;
    const whole = {
      apiVersion: 'evictd.dev/v1',
      kind: 'EvictdConfiguration',
      evictionHard: { 'memory.available': '128Mi', 'nodefs.available': '0%', 'nodefs.inodesFree': '0%', ...evictionHard },
      metrics: { listen: '127.0.0.1:0' },
      // On a busy machine the waiter thread may be first, and tests expect the wake and the readings of a pass.
      standingOrder: { after: '0s' },
      stateDirectory,
      runtimeDirectory: join(this.directory, 'run'),
      log: { format: 'json' },
      ...rest,
    };
    writeFileSync(this.configFile, JSON.stringify(whole), { mode: 0o600 });
  }

  /** Reloads another configuration; resolves when the reload is in the journal. */
  async reloaded(config: Readonly<Record<string, unknown>>): Promise<void> {
    const reloads = (): number => this.journal().filter(({ type }) => type === 'reload').length;
    const before = reloads();
    this.configure(config);
    this.child.kill('SIGHUP');
    await this.until('the reload is in the journal', () => reloads() > before);
  }

  /** Resolves when notifiers are armed and /healthz answers. */
  async guarding(port?: number): Promise<this> {
    this.#port ??= port;
    await this.until('evictd guards', async () => (await this.get('/healthz'))?.status === 200);
    return this;
  }

  /** Of its metrics, once it listens. */
  async port(): Promise<number> {
    return this.#found('evictd serves its metrics', () => this.#port);
  }

  /** An HTTP answer of evictd; undefined: it does not answer (yet). */
  get(path: string): Promise<{ status: number; body: string } | undefined> {
    if (this.#port === undefined) return Promise.resolve(undefined);
    return httpGet(`http://127.0.0.1:${String(this.#port)}${path}`);
  }

  async metrics(): Promise<string> {
    return (await this.get('/metrics'))?.body ?? '';
  }

  /** The value of a metric, by its name and labels as exposed. */
  async metric(series: string): Promise<number | undefined> {
    const line = (await this.metrics()).split('\n').find((candidate) => candidate.startsWith(`${series} `));
    return line === undefined ? undefined : Number(line.slice(series.length + 1));
  }

  /** Complete lines of the journal in the state directory. */
  journal(file = this.journalFile): JournalLine[] {
    let text: string;
    try {
      text = readFileSync(file, 'utf8');
    } catch {
      return [];
    }
    return text
      .slice(0, text.lastIndexOf('\n') + 1)
      .split('\n')
      .filter(Boolean)
      .flatMap((line, index, all) => {
        // A line that was cut off is skipped: the record "torn" after it marks it.
        if (all[index + 1]?.includes('"type":"torn"')) return [];
        return [JSON.parse(line) as JournalLine];
      });
  }

  /** Records of a type from `evictd history`, also those that are not in the state directory yet. */
  async history(type: string): Promise<JournalLine[]> {
    const { code, stdout, stderr } = await evictd('history', '--config', this.configFile, '--type', type, '-o', 'json');
    if (code !== 0) throw new Error(stderr);
    return JSON.parse(stdout) as JournalLine[];
  }

  /** Waits for the first journal record of a type. */
  recorded(type: string, ofVictim?: string): Promise<JournalLine> {
    const matches = (line: JournalLine): boolean => line.type === type && (ofVictim === undefined || victimOf(line) === ofVictim);
    return this.#found(`the journal has a record "${type}"`, () => this.journal().find(matches));
  }

  /** Waits until the container runtime has removed the victim; a busy runtime may refuse first. */
  removed(victim: string): Promise<JournalLine> {
    const matches = (line: JournalLine): boolean => line.type === 'removal' && line.removed === true && victimOf(line) === victim;
    return this.#found(`${victim} is removed`, () => this.journal().find(matches));
  }

  /** Waits for the first log line whose message or code matches. */
  logged(what: RegExp): Promise<LogLine> {
    return this.#found(`the log says ${String(what)}`, () => this.log.find(({ msg, code }) => what.test(msg) || what.test(code ?? '')));
  }

  until(what: string, happened: () => boolean | Promise<boolean>, ms?: number): Promise<void> {
    const circumstances = (): string => `${this.running ? '' : 'evictd has ended. '}Its log:\n${this.log.map(({ msg }) => msg).join('\n')}`;
    return until(what, happened, circumstances, ms);
  }

  /** Sends a signal and waits for the exit code, or the signal that ended evictd. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | NodeJS.Signals> {
    this.child.kill(signal);
    return this.exited();
  }

  async exited(): Promise<number | NodeJS.Signals> {
    await this.until('evictd ends', () => !this.running);
    return this.#exit;
  }

  async #found<T>(what: string, find: () => T | undefined): Promise<T> {
    await this.until(what, () => find() !== undefined);
    const found = find();
    if (found === undefined) throw new Error(`no longer: ${what}`);
    return found;
  }

  #logged(line: string): void {
    let parsed: LogLine;
    try {
      parsed = JSON.parse(line) as LogLine;
    } catch {
      parsed = { level: 'error', msg: line };
    }
    this.log.push(parsed);
    this.#port ??= Number(/^metrics are served on .*:(\d+)$/.exec(parsed.msg)?.[1] ?? Number.NaN) || undefined;
  }
}

/** Runs `evictd` with these arguments to its end. */
export async function evictd(...args: readonly string[]): Promise<{ code: number | NodeJS.Signals; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [EVICTD, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  onTestFinished(() => void child.kill('SIGKILL'));
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  return { code: code ?? signal ?? 0, stdout, stderr };
}

/** On a tmpfs, as a runtime directory should be. The caller removes it. */
export function scratchDirectory(): string {
  return mkdtempSync('/dev/shm/evictd-test-');
}

export function victimOf(line: JournalLine): string | undefined {
  return (line.victim as { name: string } | undefined)?.name;
}

function httpGet(url: string): Promise<{ status: number; body: string } | undefined> {
  return new Promise((done) => {
    const request = get(url, { agent: false, timeout: 5_000 * SLOWNESS }, (response) => {
      let body = '';
      response.setEncoding('utf8');
      response.on('data', (text: string) => (body += text));
      response.on('end', () => done({ status: response.statusCode ?? 0, body }));
      response.on('error', () => done(undefined));
    });
    request.on('error', () => done(undefined));
    request.on('timeout', () => request.destroy());
  });
}
