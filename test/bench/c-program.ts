import { execFileSync, spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import type { Bench } from './benchmark.js';
import { SCRATCH } from './tree.js';

/** Compiles test/bench/<name>.c for this run. Throws without a C compiler. Returns its path. */
export function compile(bench: Pick<Bench, 'cleanup'>, name: string): string {
  const directory = mkdtempSync(join(SCRATCH, 'evictd-bench-'));
  bench.cleanup(() => {
    rmSync(directory, { recursive: true, force: true });
  });
  const program = join(directory, name);
  execFileSync('cc', ['-O2', '-pthread', '-Wall', '-Wextra', '-Werror', '-o', program, join(import.meta.dirname, `${name}.c`)]);
  return program;
}

/** Joins the cgroup before the program starts, so that all its memory counts there. */
const JOIN = 'echo $$ > "$0/cgroup.procs" && exec "$@"';

/** A program with line commands and line answers, in `cgroup`. */
export class Conversation {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #said: AsyncIterator<string, undefined>;
  readonly ended: Promise<unknown>;

  constructor(bench: Pick<Bench, 'cleanup'>, cgroup: { readonly dir: string } | undefined, program: readonly string[]) {
    const [command = '', ...args] = cgroup === undefined ? program : ['/bin/sh', '-c', JOIN, cgroup.dir, ...program];
    this.#child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#child.stdin.on('error', () => undefined); // it was killed: `ended` says so
    this.ended = once(this.#child, 'exit');
    this.#said = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
    bench.cleanup(() => this.kill());
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get isAlive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  tell(line: string): void {
    this.#child.stdin.write(`${line}\n`);
  }

  /** Its next line. Throws if it has ended. */
  async line(): Promise<string> {
    const { value, done } = await this.#said.next();
    if (done === true) throw new Error('the program has ended');
    return value;
  }

  async kill(): Promise<void> {
    if (this.isAlive) {
      this.#child.kill('SIGKILL');
      await this.ended;
    }
  }
}
