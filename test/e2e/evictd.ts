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

/** A line of the journal, loosely: the tests say what they expect of it. */
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
  /** Merged over a configuration that watches memory only, on directories of its own. */
  readonly config: Readonly<Record<string, unknown>>;
  readonly args?: readonly string[];
  /** A command that ends in exec of its arguments: ['unshare', '-m', 'sh', '-c', '…; exec "$@"', 'sh']. */
  readonly through?: readonly string[];
  /** Another program than node itself, for what starts evictd in a cgroup. */
  readonly directory?: string;
  /** A descriptor for standard error instead of a pipe that is read. */
  readonly stderr?: number;
}

/** A running `evictd run`; ended, and its directory removed, when the test is over. */
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
      stateDirectory,
      runtimeDirectory: join(this.directory, 'run'),
      log: { format: 'json' },
      ...rest,
    };
    writeFileSync(this.configFile, JSON.stringify(whole), { mode: 0o600 });
  }

  /** Takes another configuration over; resolves when that is in the journal. */
  async reloaded(config: Readonly<Record<string, unknown>>): Promise<void> {
    const reloads = (): number => this.journal().filter(({ type }) => type === 'reload').length;
    const before = reloads();
    this.configure(config);
    this.child.kill('SIGHUP');
    await this.until('it has reloaded', () => reloads() > before);
  }

  /** Guards: it has armed what it can, and answers. */
  async guarding(port?: number): Promise<this> {
    this.#port ??= port;
    await this.until('evictd guards', async () => (await this.get('/healthz'))?.status === 200);
    return this;
  }

  /** Of its own server; undefined: it does not answer (yet). */
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

  /** Whole lines of the journal in the state directory. */
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
        // Who reads a journal passes over a line that was cut off: the one behind it says so.
        if (all[index + 1]?.includes('"type":"torn"')) return [];
        return [JSON.parse(line) as JournalLine];
      });
  }

  /** Records of a type as `evictd history` has them: also those that the state directory has not taken when evictd ended. */
  async history(type: string): Promise<JournalLine[]> {
    const { code, stdout, stderr } = await evictd('history', '--config', this.configFile, '--type', type, '-o', 'json');
    if (code !== 0) throw new Error(stderr);
    return JSON.parse(stdout) as JournalLine[];
  }

  /** The first journal line of a type, when it is there. */
  recorded(type: string, ofVictim?: string): Promise<JournalLine> {
    const matches = (line: JournalLine): boolean => line.type === type && (ofVictim === undefined || victimOf(line) === ofVictim);
    return this.#found(`the journal has a record "${type}"`, () => this.journal().find(matches));
  }

  /** When its container runtime has removed it; a busy one may have refused before. */
  removed(victim: string): Promise<JournalLine> {
    const matches = (line: JournalLine): boolean => line.type === 'removal' && line.removed === true && victimOf(line) === victim;
    return this.#found(`${victim} is removed`, () => this.journal().find(matches));
  }

  /** The first line of the log with such a message or code, when it is there. */
  logged(what: RegExp): Promise<LogLine> {
    return this.#found(`the log says ${String(what)}`, () => this.log.find(({ msg, code }) => what.test(msg) || what.test(code ?? '')));
  }

  until(what: string, happened: () => boolean | Promise<boolean>, ms?: number): Promise<void> {
    const circumstances = (): string => `${this.running ? '' : 'evictd has ended. '}Its log:\n${this.log.map(({ msg }) => msg).join('\n')}`;
    return until(what, happened, circumstances, ms);
  }

  /** Sends a signal and waits for the end: an exit code, or the signal that ended it. */
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

/** `evictd` with these arguments, to its end. */
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

/** On a tmpfs where there is one, as a runtime directory should be. Removed by whoever has it made. */
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
