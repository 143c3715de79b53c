import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import type { TestCgroup } from '../support/cgroup.js';

/** When a cgroup's usage crossed a limit: between these two times, monotonic ns. */
export interface Crossing {
  readonly fromNs: bigint;
  readonly toNs: bigint;
}

/** Joins the cgroup before Node starts, so that all of its memory is counted there. */
const JOIN = 'echo $$ > "$0/cgroup.procs" && exec "$@"';

/** A process that takes memory on command (leaker.js); a member of one cgroup, looking at the usage of that or of another. */
export class Leaker {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #said: AsyncIterator<string, undefined>;
  readonly ended: Promise<unknown>;

  private constructor(cgroup: TestCgroup, usageFile: string) {
    const program = [process.execPath, '--expose-gc', resolve(import.meta.dirname, 'leaker.js'), usageFile];
    this.#child = spawn('/bin/sh', ['-c', JOIN, cgroup.dir, ...program], { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#child.stdin.on('error', () => undefined); // it was killed: `ended` says so
    this.ended = once(this.#child, 'exit');
    this.#said = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
  }

  /** Resolves when it waits for a command. */
  static async start(cgroup: TestCgroup, usageFile: string): Promise<Leaker> {
    const leaker = new Leaker(cgroup, usageFile);
    await leaker.#line();
    return leaker;
  }

  /** Crosses the limit, takes `beyondBytes` more, and gives everything back. */
  async touch(limitBytes: bigint, beyondBytes: number): Promise<Crossing> {
    this.#child.stdin.write(`touch ${String(limitBytes)} ${String(beyondBytes)}\n`);
    const [from = '', to = ''] = (await this.#line()).split(' ');
    return { fromNs: BigInt(from), toNs: BigInt(to) };
  }

  /** Takes memory as fast as it can until it is killed; `file`: 24 bytes, the crossing's two times and when it was last alive. */
  leak(limitBytes: bigint, file: string): void {
    this.#child.stdin.write(`leak ${String(limitBytes)} ${file}\n`);
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }

  async #line(): Promise<string> {
    const { value, done } = await this.#said.next();
    if (done === true) throw new Error('the process that takes memory has ended');
    return value;
  }
}
