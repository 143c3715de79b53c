import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { memoryController, type TestCgroup } from '../support/cgroup.js';
import type { PidsLimit } from '../support/fork-bomb.js';

export const isV1 = memoryController()?.version === 1;

export interface Leak {
  readonly mibPerSecond: number;
  readonly upToMib: number;
  readonly ignoresTerm?: boolean;
  /** Files there instead of anonymous memory. */
  readonly onTmpfs?: boolean;
  /** Beside the leak: huge pages, in a file that outlives the process. */
  readonly hugeMib?: number;
  /** Cgroups below the workload, one in the other and beside each other: it leaks in the last of them. */
  readonly deep?: number;
  readonly wide?: number;
  /** How often it starts again after an end that the driver has not made. */
  readonly restarts?: number;
  /** The driver removes its cgroup as soon as its process has ended. */
  readonly isRemovedAtOnce?: boolean;
  readonly ownLimitMib?: number;
}

/** In Perl, as in test/e2e: it starts at once on an emulated machine too. */
export const LEAK = `
  my ($rate, $cap, $file, $term) = @ARGV;
  $SIG{TERM} = 'IGNORE' if $term;
  my ($one, @held, $out) = (1 << 20);
  open $out, '>>', $file or die if $file;
  for (1 .. $cap) {
    if ($file) { syswrite $out, 'x' x $one or last } else { push @held, 'x' x $one }
    select undef, undef, undef, 1 / $rate;
  }
  sleep while 1;`;

/** Makes that many cgroups, a hundred at a time, and removes them. */
export const PASSING = `
  my ($prefix, $count) = @ARGV;
  for my $batch (1 .. $count / 100) {
    mkdir "$prefix$_" for 1 .. 100;
    rmdir "$prefix$_" for 1 .. 100;
  }
  sleep while 1;`;

/** A workload of the node: a cgroup with processes, and what hangs on it. */
export class ChaosWorkload {
  readonly id: string;
  readonly protected: boolean;
  /** As it was made; `dir` and `name` follow a rename. */
  readonly cgroup: TestCgroup;
  dir: string;
  name: string;
  /** Where its process is, below `dir`. */
  leaf = '';
  readonly pids = new Set<number>();
  readonly sent = new Set<number>();
  /** A process that is about to join: its cgroup stays as it is until then. */
  joining: Promise<unknown> = Promise.resolve();
  pidsLimit: PidsLimit | undefined;
  tmpfs: string | undefined;
  hugeFile: string | undefined;
  frozen: string | undefined;
  isRetired = false;
  readonly #hasOwnLimit: boolean;
  #kernelKills = 0;
  #reached = 0;

  constructor(cgroup: TestCgroup, name: string, ownLimitMib?: number) {
    this.cgroup = cgroup;
    this.dir = cgroup.dir;
    this.name = name;
    this.protected = name.startsWith('protected-');
    this.id = String(statSync(cgroup.dir, { bigint: true }).ino);
    this.#hasOwnLimit = ownLimitMib !== undefined;
    if (ownLimitMib !== undefined) cgroup.limit(BigInt(ownLimitMib) << 20n);
  }

  processIn(cgroup: TestCgroup): void {
    this.leaf = relative(this.cgroup.dir, cgroup.dir);
  }

  /** What the OOM killer has killed since the last look. */
  newKernelKills(): { readonly count: number; readonly limit: 'own' | 'node' } {
    const kills = attempt(() => this.#kills()) ?? this.#kernelKills;
    const reached = this.#hasOwnLimit ? (attempt(() => timesReached(this.dir)) ?? this.#reached) : 0;
    const count = kills - this.#kernelKills;
    const limit = reached > this.#reached ? 'own' : 'node';
    [this.#kernelKills, this.#reached] = [kills, count > 0 ? reached : this.#reached];
    return { count, limit };
  }

  /** undefined: its cgroup has gone. */
  anonBytes(): number | undefined {
    return attempt(() => Number(new RegExp(`^${isV1 ? 'total_rss' : 'anon'} (\\d+)$`, 'm').exec(read(this.dir, 'memory.stat'))?.[1]));
  }

  /** On v1 a cgroup counts its own kills, on v2 those below it too. */
  #kills(): number {
    if (!isV1) return kernelKillsIn(this.dir);
    return [...new Set([this.dir, join(this.dir, this.leaf)])].reduce((sum, dir) => sum + kernelKillsIn(dir), 0);
  }
}

export function kernelKillsIn(dir: string): number {
  return Number(/^oom_kill (\d+)$/m.exec(read(dir, isV1 ? 'memory.oom_control' : 'memory.events'))?.[1] ?? 0);
}

/** How often usage reached the cgroup's own limit. */
function timesReached(dir: string): number {
  return isV1 ? Number(read(dir, 'memory.failcnt')) : Number(/^oom (\d+)$/m.exec(read(dir, 'memory.events.local'))?.[1] ?? 0);
}

export function* cgroupsBelow(dir: string): Generator<string> {
  yield dir;
  for (const entry of attempt(() => readdirSync(dir, { withFileTypes: true })) ?? []) {
    if (entry.isDirectory()) yield* cgroupsBelow(join(dir, entry.name));
  }
}

export function pidsBelow(dir: string): number[] {
  return [...cgroupsBelow(dir)].flatMap((cgroup) =>
    (attempt(() => read(cgroup, 'cgroup.procs')) ?? '').split('\n').filter(Boolean).map(Number),
  );
}

function read(dir: string, file: string): string {
  return readFileSync(join(dir, file), 'utf8');
}

/** undefined: it failed, because the process or the cgroup has gone. */
export function attempt<T>(call: () => T): T | undefined {
  try {
    return call();
  } catch {
    return undefined;
  }
}
