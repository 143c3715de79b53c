import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';

const DIRECTORIES = ['/usr/bin', '/bin', '/run/current-system/sw/bin'];
const LOCK = ['--what=shutdown', '--mode=delay', '--who=evictd'];
const PROVED_WITHIN_MS = 20_000;
/** For what its children leave open. */
const CLOSED_WITHIN_MS = 1_000;
const SAID_AT_MOST = 500;

/** Takes a lock, and holds it for as long as its standard input is open. undefined: it is not there. */
export type InhibitCommand = (why: string) => readonly string[] | undefined;

/** systemd-inhibit, if there is one. */
export const inhibitCommand: InhibitCommand = (why) => {
  const directory = DIRECTORIES.find((candidate) => existsSync(`${candidate}/systemd-inhibit`));
  return directory === undefined ? undefined : [`${directory}/systemd-inhibit`, ...LOCK, `--why=${why}`, 'cat'];
};

/** Neither comes after `close`. */
export interface InhibitorEvents {
  /** The lock is there. */
  readonly taken: () => void;
  /** It is not to be had, or lost. Once. */
  readonly ended: (reason: string) => void;
}

/**
 * A delay lock of logind's. `systemd-inhibit` has it for as long as its `cat` runs, and that runs for as long as evictd holds its standard input: of an evictd that is killed, in
 * whichever way, nothing remains. What `cat` sends back proves that the lock was taken before.
 */
export class Inhibitor {
  readonly #child: ChildProcess;
  readonly #events: InhibitorEvents;
  #takenAtNs: bigint | undefined;
  #said = '';
  #timer: NodeJS.Timeout | undefined;
  #over = false;

  /** Throws where `spawn` does (ENOMEM), and leaves nothing. What it tells only later (EMFILE, ENFILE, EAGAIN, ENOENT, EACCES) `ended` tells, too. */
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
      stream.on('error', () => undefined); // it has ended: that is seen below
    }
    if (child.pid === undefined) return;
    this.#within(provedWithinMs, `${program} has not answered within ${String(provedWithinMs / 1000)} s`);
    // evictd lives for its monitor, not for this.
    child.unref();
    child.stdout?.once('data', () => {
      this.#taken();
    });
    child.stderr?.on('data', (text: Buffer) => (this.#said = (this.#said + text.toString()).slice(0, SAID_AT_MOST)));
    child.once('exit', (code, signal) => {
      const reason = /\S.*/.exec(this.#said)?.[0] ?? `${program} has ended (${signal ?? String(code)})`;
      this.#within(CLOSED_WITHIN_MS, reason);
    });
    child.once('close', (code, signal) => {
      this.#end(/\S.*/.exec(this.#said)?.[0] ?? `${program} has ended (${signal ?? String(code)})`);
    });
    unprotect(this.#pid);
    child.stdin?.write('\n');
  }

  /** Monotonic; undefined: not taken yet. */
  get takenAtNs(): bigint | undefined {
    return this.#takenAtNs;
  }

  /** Lets go of the lock. May be called twice. */
  close(): void {
    this.#over = true;
    clearTimeout(this.#timer);
    for (const stream of streamsOf(this.#child)) stream.destroy();
    // Without waiting for a `cat` that may be stopped: the lock goes with this process. Where none was made, Node has a pid that was never written, and would signal whoever has it.
    if (this.#child.pid !== undefined) this.#child.kill('SIGTERM');
  }

  /** undefined: it has ended, and another one may have its number. */
  get #pid(): number | undefined {
    const { pid, exitCode, signalCode } = this.#child;
    return exitCode === null && signalCode === null ? pid : undefined;
  }

  /** What comes of a `cat` that was left behind proves nothing. */
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

/** None where there were no descriptors left for them. */
function streamsOf({ stdin, stdout, stderr }: ChildProcess): Socket[] {
  return [stdin, stdout, stderr].filter(Boolean) as unknown as Socket[];
}

/** What spares evictd of the kernel's OOM killer is not for those that it starts. */
function unprotect(pid: number | undefined): void {
  const file = `/proc/${String(pid)}/oom_score_adj`;
  try {
    if (Number(readFileSync(file, 'utf8')) < 0) writeFileSync(file, '0');
  } catch {
    // It has ended, which is told by itself; or a sandbox forbids it, and it stays as evictd is.
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
