import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import type { TestCgroup } from '../support/cgroup.js';

/** Usage crossed the limit between these two times, monotonic ns. */
export interface Crossing {
  readonly fromNs: bigint;
  readonly toNs: bigint;
}

/** Joins the cgroup before Node starts, so that all its memory counts there. */
const JOIN = 'echo $$ > "$0/cgroup.procs" && exec "$@"';

/** A process that takes memory on command (leaker.js) in one cgroup, and reads the usage of that or of another one. */
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

  /** Resolves when it is ready for a command. */
  static async start(cgroup: TestCgroup, usageFile: string): Promise<Leaker> {
    const leaker = new Leaker(cgroup, usageFile);
    await leaker.#line();
    return leaker;
  }

  /** Crosses the limit, takes `beyondBytes` more, and frees everything. */
  async touch(limitBytes: bigint, beyondBytes: number): Promise<Crossing> {
    this.#child.stdin.write(`touch ${String(limitBytes)} ${String(beyondBytes)}\n`);
    const [from = '', to = ''] = (await this.#line()).split(' ');
    return { fromNs: BigInt(from), toNs: BigInt(to) };
  }

  /**
   * Takes memory as fast as it can until it is killed; `file`: 24 bytes, two times of the crossing and the last one
   * alive.
   */
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
