import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { Evictd, scratchDirectory } from './evictd.js';
import { until } from './wait.js';

/** How the main thread is kept from running. */
export type Stall = 'a busy loop' | 'a stopped thread' | 'a heap full of garbage';

const SECONDS = 5;

/** Loaded before evictd. On SIGUSR2 the main thread does nothing else until `end`. `begun` and `over` are files. */
const hook = (body: string): string => `
  const { writeFileSync } = require('node:fs');
  const { getHeapStatistics } = require('node:v8');
  process.on('SIGUSR2', () => {
    writeFileSync(__dirname + '/begun', '');
    const end = Date.now() + ${String(SECONDS * 1_000)};
    ${body}
    writeFileSync(__dirname + '/over', '');
  });`;

const BUSY = 'while (Date.now() < end);';

/** Keeps the heap at its limit, so that V8 collects garbage all the time. */
const GARBAGE = `
    const { heap_size_limit: limit } = getHeapStatistics();
    let kept = [];
    while (Date.now() < end) {
      kept.push(Array.from({ length: 1000 }, (_, index) => ({ index, text: 'x'.repeat(index % 7) })));
      if (getHeapStatistics().used_heap_size > limit * 0.7) kept = kept.slice(kept.length / 4);
    }`;

/** Stops one thread, as a debugger does, and lets it run again when standard input ends. Signals stop all threads. */
const STOPPER = `
  my ($ptrace, $thread) = map { $_ + 0 } @ARGV;
  syscall($ptrace, 0x4206, $thread, 0, 0) == 0 or die "PTRACE_SEIZE: $!";
  syscall($ptrace, 0x4207, $thread, 0, 0) == 0 or die "PTRACE_INTERRUPT: $!";
  waitpid($thread, 0x40000000) == $thread or die "waitpid: $!";
  $| = 1;
  print "stopped\\n";
  read(STDIN, my $end, 1);`;
const PTRACE = process.arch === 'arm64' ? 117 : 101;

/** An evictd whose main thread a test stalls while the other threads run. */
export class StalledEvictd {
  readonly directory = scratchDirectory();
  readonly evictd: Evictd;
  readonly #stall: Stall;
  #resume: (() => void) | undefined;
  #resumed = false;

  /** @param cgroup  a directory that evictd enters first */
  constructor(
    stall: Stall,
    config: Readonly<Record<string, unknown>>,
    { cgroup, through = [] }: { cgroup?: string; through?: readonly string[] } = {},
  ) {
    this.#stall = stall;
    const file = join(this.directory, 'stall.cjs');
    writeFileSync(file, hook(stall === 'a heap full of garbage' ? GARBAGE : BUSY));
    const entered = cgroup === undefined ? [] : ['sh', '-c', `echo $$ > ${cgroup}/cgroup.procs && exec "$@"`, 'sh'];
    this.evictd = new Evictd({
      config,
      directory: this.directory,
      through: [...entered, ...through, 'env', `NODE_OPTIONS=--require=${file}`],
    });
  }

  /** Resolves when a standing order is placed: a stall before that would find none. */
  async ordered(): Promise<void> {
    await this.evictd.until('an order is placed', async () => (await this.evictd.metrics()).includes('evictd_candidate_usage_bytes{'));
  }

  /** Resolves when the main thread is stalled. */
  async begin(): Promise<void> {
    if (this.#stall === 'a stopped thread') return this.#stop();
    this.evictd.child.kill('SIGUSR2');
    await until('the main thread is stalled', () => existsSync(join(this.directory, 'begun')));
  }

  get isOver(): boolean {
    return this.#stall === 'a stopped thread' ? this.#resumed : existsSync(join(this.directory, 'over'));
  }

  /** Ends the stall where it does not end by itself. */
  end(): void {
    this.#resumed = true;
    this.#resume?.();
  }

  async #stop(): Promise<void> {
    const stopper = spawn('perl', ['-e', STOPPER, String(PTRACE), String(this.evictd.pid)], { stdio: ['pipe', 'pipe', 'inherit'] });
    onTestFinished(() => void stopper.kill('SIGKILL'));
    this.#resume = () => {
      stopper.stdin.end();
    };
    await Promise.race([
      once(stopper.stdout, 'data'),
      once(stopper, 'exit').then(() => {
        throw new Error('the main thread could not be stopped');
      }),
    ]);
  }
}
