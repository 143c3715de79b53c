import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';

const DIRECTORIES = ['/usr/bin', '/bin', '/run/current-system/sw/bin'];
const DELAY_LOCK = ['--what=shutdown', '--mode=delay', '--who=evictd'];
const PROVED_WITHIN_MS = 20_000;
/** The wait for descriptors that its children keep open. */
const CLOSED_WITHIN_MS = 1_000;
const MAX_ERROR_TEXT = 500;

/** A command that takes a lock and holds it while its standard input is open. undefined: not installed. */
export type InhibitCommand = (why: string) => readonly string[] | undefined;

export const inhibitCommand: InhibitCommand = (why) => {
  const directory = DIRECTORIES.find((candidate) => existsSync(`${candidate}/systemd-inhibit`));
  return directory === undefined ? undefined : [`${directory}/systemd-inhibit`, ...DELAY_LOCK, `--why=${why}`, 'cat'];
};

/** Neither is called after `close`. */
interface InhibitorEvents {
  readonly taken: () => void;
  /** It could not be taken, or was lost. Once. */
  readonly ended: (reason: string) => void;
}

/**
 * A delay lock of logind. `systemd-inhibit` holds it while its `cat` runs, and that runs while evictd keeps its
 * standard input open: a killed evictd leaves nothing. The byte that `cat` echoes proves that the lock was taken.
 */
export class Inhibitor {
  readonly #child: ChildProcess;
  readonly #events: InhibitorEvents;
  #takenAtNs: bigint | undefined;
  #errorText = '';
  #timer: NodeJS.Timeout | undefined;
  #over = false;

  /**
   * Throws where `spawn` does (ENOMEM), and leaves nothing. Later failures (EMFILE, ENFILE, EAGAIN, ENOENT, EACCES)
   * come as `ended`.
   */
  constructor([program = '', ...args]: readonly string[], events: InhibitorEvents, provedWithinMs = PROVED_WITHIN_MS) {
    this.#events = events;
    const env = { PATH: DIRECTORIES.join(':'), LC_ALL: 'C' };
    const child: ChildProcess = spawn(program, args, { cwd: '/', env, stdio: ['pipe', 'pipe', 'pipe'] });
    this.#child = child;
    child.on('error', (error) => {
      this.#end(error.message);
    });
    for (const stream of streamsOf(child)) {
      stream.unref();
      stream.on('error', () => undefined); // it has ended: handled below
    }
    if (child.pid === undefined) return;
    this.#within(provedWithinMs, `${program} has not answered within ${String(provedWithinMs / 1000)} s`);
    // It does not keep the process alive.
    child.unref();
    child.stdout?.once('data', () => {
      this.#taken();
    });
    child.stderr?.on('data', (text: Buffer) => (this.#errorText = (this.#errorText + text.toString()).slice(0, MAX_ERROR_TEXT)));
    child.once('exit', (code, signal) => {
      const reason = /\S.*/.exec(this.#errorText)?.[0] ?? `${program} has ended (${signal ?? String(code)})`;
      this.#within(CLOSED_WITHIN_MS, reason);
    });
    child.once('close', (code, signal) => {
      this.#end(/\S.*/.exec(this.#errorText)?.[0] ?? `${program} has ended (${signal ?? String(code)})`);
    });
    unprotect(this.#pid);
    child.stdin?.write('\n');
  }

  /** Monotonic; undefined: not taken yet. */
  get takenAtNs(): bigint | undefined {
    return this.#takenAtNs;
  }

  /** Releases the lock. May be called twice. */
  close(): void {
    this.#over = true;
    clearTimeout(this.#timer);
    for (const stream of streamsOf(this.#child)) stream.destroy();
    // Does not wait for a stopped `cat`: the lock goes with systemd-inhibit. After a failed spawn Node's pid is
    // uninitialised, so it must not be signalled.
    if (this.#child.pid !== undefined) this.#child.kill('SIGTERM');
  }

  /** undefined: it has ended, and the pid may be reused. */
  get #pid(): number | undefined {
    const { pid, exitCode, signalCode } = this.#child;
    return exitCode === null && signalCode === null ? pid : undefined;
  }

  /** The echo of a `cat` that was left behind proves nothing. */
  #taken(): void {
    const pid = this.#pid;
    if (this.#over || pid === undefined) return;
    clearTimeout(this.#timer);
    this.#takenAtNs = process.hrtime.bigint();
    for (const child of childrenOf(pid)) unprotect(child);
    this.#events.taken();
  }

  #end(reason: string): void {
    if (this.#over) return;
    this.close();
    this.#events.ended(reason);
  }

  #within(ms: number, reason: string): void {
    clearTimeout(this.#timer);
    if (this.#over) return;
    this.#timer = setTimeout(() => {
      this.#end(reason);
    }, ms);
    this.#timer.unref();
  }
}

/** The streams of the child; none if there were no descriptors. */
function streamsOf({ stdin, stdout, stderr }: ChildProcess): Socket[] {
  return [stdin, stdout, stderr].filter(Boolean) as unknown as Socket[];
}

/** evictd's OOM protection is not for its child processes. */
function unprotect(pid: number | undefined): void {
  const file = `/proc/${String(pid)}/oom_score_adj`;
  try {
    if (Number(readFileSync(file, 'utf8')) < 0) writeFileSync(file, '0');
  } catch {
    // It has ended, or a sandbox forbids it and evictd's value stays.
  }
}

function childrenOf(pid: number): readonly number[] {
  try {
    return readFileSync(`/proc/${String(pid)}/task/${String(pid)}/children`, 'utf8')
      .trim()
      .split(' ')
      .filter(Boolean)
      .map(Number);
  } catch {
    return []; // a kernel without CONFIG_PROC_CHILDREN
  }
}
