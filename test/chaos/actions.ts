import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { FuseMount } from '../support/fuse.js';
import type { Chance } from './chance.js';
import type { Guard } from './guard.js';
import type { WallClock } from './machine.js';
import type { ChaosNode } from './node-workloads.js';
import type { ChaosUnits } from './units.js';
import type { ChaosWorkload, Leak } from './workload.js';

/** What an action can do something to. */
export interface Scene {
  readonly node: ChaosNode;
  readonly guard: Guard;
  /** Only in a machine with systemd and cgroup v2. */
  readonly units: ChaosUnits | undefined;
  readonly clock: WallClock;
  /** Whether huge pages are there, which only a machine has. */
  readonly hasHugePages: boolean;
  /** The evictd directory: its `state` is a small filesystem of its own. */
  readonly directory: string;
  /** The filesystem of nodefs, where FUSE can be mounted. */
  readonly fuse: FuseMount | undefined;
  nodefsHangs: boolean;
  readonly configure: (variant: number) => void;
}

interface Action {
  readonly name: string;
  readonly weight: number;
  readonly act: (scene: Scene, chance: Chance) => unknown;
}

/** Met above 192 or 384 MiB of the node's 1024. */
export const THRESHOLDS: readonly Readonly<Record<string, unknown>>[] = [
  { evictionHard: { 'memory.available': '832Mi' } },
  { evictionHard: { 'memory.available': '640Mi' } },
  {
    evictionHard: { 'memory.available': '576Mi' },
    evictionSoft: { 'memory.available': '832Mi' },
    evictionSoftGracePeriod: { 'memory.available': '200ms' },
    evictionMaxPodGracePeriod: 1,
  },
];

const PASSING_CGROUPS = 10_000;

/**
 * What the driver does, and how often. What a machine cannot do does nothing there, so that a seed is the same
 * everywhere.
 */
export const ACTIONS: readonly Action[] = [
  { name: 'leak', weight: 20, act: ({ node }, chance) => node.leak(chance.one(['web', 'batch', 'job']), leak(chance)) },
  { name: 'leak without SIGTERM', weight: 4, act: ({ node }, chance) => node.leak('deaf', { ...leak(chance), ignoresTerm: true }) },
  { name: 'leak that starts again', weight: 5, act: ({ node }, chance) => node.leak('again', { ...leak(chance), restarts: 2 }) },
  {
    name: 'protected leak',
    weight: 3,
    act: ({ node }, chance) => node.leak('protected', { ...leak(chance), upToMib: chance.between(20, 250) }),
  },
  { name: 'tmpfs holder', weight: 3, act: ({ node }, chance) => node.leak('tmpfs', { ...leak(chance), onTmpfs: true }) },
  { name: 'deep tree', weight: 2, act: ({ node }, chance) => node.leak('deep', { ...leak(chance), deep: chance.between(5, 30) }) },
  { name: 'wide tree', weight: 2, act: ({ node }, chance) => node.leak('wide', { ...leak(chance), wide: chance.between(20, 150) }) },
  {
    name: 'leak into its own limit',
    weight: 3,
    act: ({ node }, chance) => node.leak('limited', { ...leak(chance), ownLimitMib: chance.between(10, 40) }),
  },
  {
    name: 'leak whose cgroup is removed at once',
    weight: 3,
    act: ({ node }, chance) => node.leak('gone', { ...leak(chance), isRemovedAtOnce: true }),
  },
  { name: 'holder of huge pages', weight: 2, act: holdHugePages },
  {
    name: 'cgroups that come and go',
    weight: 1,
    act: ({ node }, chance) => node.passing('passing', PASSING_CGROUPS, chance.one(['inside', 'beside'] as const)),
  },
  { name: 'unit that restarts', weight: 3, act: ({ units }, chance) => units?.restarting(leak(chance)) },
  {
    name: 'scope with a hostile tree',
    weight: 3,
    act: ({ units }, chance) => units?.scope({ ...leak(chance), deep: chance.between(5, 60), wide: chance.between(20, 150) }),
  },
  { name: 'fork bomb', weight: 1, act: ({ node }) => node.forkBomb('bomb') },
  { name: 'retire', weight: 6, act: ({ node }, chance) => withOne(node, chance, (workload) => node.retire(workload)) },
  { name: 'rename', weight: 4, act: ({ node }, chance) => withOne(node, chance, (workload) => node.rename(workload)) },
  { name: 'freeze', weight: 3, act: ({ node }, chance) => withOne(node, chance, (workload) => node.freeze(workload)) },
  { name: 'stop evictd', weight: 2, act: ({ guard }, chance) => guard.pauseFor(() => pause(chance.between(50, 1500))) },
  { name: 'kill evictd', weight: 3, act: ({ guard }, chance) => startAgain(guard, 'SIGKILL', chance.between(0, 500)) },
  { name: 'kill evictd near an eviction', weight: 3, act: killNearEviction },
  { name: 'stop and start evictd', weight: 1, act: ({ guard }) => startAgain(guard, 'SIGTERM', 0) },
  { name: 'reload', weight: 4, act: reload },
  { name: 'fill or empty the state directory', weight: 3, act: ({ directory }) => fillOrEmpty(directory) },
  { name: 'clock jump', weight: 2, act: ({ clock }) => clock.jump() },
  { name: 'nodefs hangs, or answers again', weight: 4, act: hangOrAnswer },
];

export function leak(chance: Chance): Leak {
  return { mibPerSecond: chance.one([5, 20, 50, 100, 200]), upToMib: chance.between(40, 300) };
}

function withOne(node: ChaosNode, chance: Chance, act: (workload: ChaosWorkload) => unknown): unknown {
  return node.workloads.length === 0 ? undefined : act(chance.one(node.workloads));
}

async function startAgain(guard: Guard, signal: 'SIGTERM' | 'SIGKILL', deadMs: number): Promise<void> {
  await guard.end(signal);
  await pause(deadMs);
  await guard.start();
}

async function holdHugePages({ node, hasHugePages }: Scene, chance: Chance): Promise<void> {
  const its = { ...leak(chance), hugeMib: 2 * chance.between(1, 20) };
  if (hasHugePages) await node.leak('huge', its);
}

/** A leak of 250 MiB in about a second meets each threshold. */
async function killNearEviction(scene: Scene, chance: Chance): Promise<void> {
  await scene.node.leak('job', { mibPerSecond: 200, upToMib: 250 });
  await pause(chance.between(200, 1200));
  await startAgain(scene.guard, 'SIGKILL', 0);
}

function reload({ guard, configure }: Scene, chance: Chance): void {
  configure(chance.between(0, THRESHOLDS.length - 1));
  guard.reload();
}

async function hangOrAnswer(scene: Scene, chance: Chance): Promise<void> {
  const how = chance.one(['untaken', 'unanswered'] as const);
  await (scene.nodefsHangs ? scene.fuse?.answer() : scene.fuse?.hang(how));
  scene.nodefsHangs = !scene.nodefsHangs;
}

/** A write beyond the end of the filesystem fails, and leaves it full. */
export function fillOrEmpty(directory: string, only?: 'empty'): void {
  const filler = join(directory, 'state', 'filler');
  const isFull = existsSync(filler);
  rmSync(filler, { force: true });
  if (isFull || only === 'empty') return;
  try {
    writeFileSync(filler, Buffer.alloc(128 << 20));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  }
}
