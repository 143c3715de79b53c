import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { cgroupAt, testCgroup } from '../support/cgroup.js';
import { eventually } from '../support/eventually.js';
import { fuseWorks, mountFuse } from '../support/fuse.js';
import { SLOWNESS } from '../support/slowness.js';
import { ACTIONS, fillOrEmpty, leak, THRESHOLDS, type Scene } from './actions.js';
import { Chance } from './chance.js';
import { check, type Verdict } from './checker.js';
import { Guard } from './guard.js';
import { readJournal } from './journal-lines.js';
import { mountHugePages, WallClock } from './machine.js';
import { ChaosNode, NODE_MIB, NODE_PROCESSES } from './node-workloads.js';
import { moment, type See, type Seen } from './seen.js';
import { ANCHOR, ChaosUnits, hasUnits, SLICE } from './units.js';

const MAX_WORKLOADS = 9;
const STATE_MIB = 48;
const LAST_MS = 120_000;
const LOOKS_EVERY_MS = 250;
/** On the machine's time; evictd's monitoring interval is half of it. */
const EVICTD_LOOKS_WITHIN_MS = 1000;

export interface Run {
  readonly seed: number;
  readonly actions: number;
  /** What was seen and the journal go there. */
  readonly out: string;
}

/** What has to be undone, whatever happens; the last first. */
export type Undo = (() => unknown)[];

/** What fails is reported, and the rest is undone all the same. */
export async function undoAll(undo: Undo): Promise<void> {
  for (let step = undo.pop(); step; step = undo.pop()) {
    try {
      await step();
    } catch (error) {
      process.stderr.write(`evictd: chaos: cleaning up: ${String(error)}\n`);
    }
  }
}

/** One seed: random actions, a last leak that has to be evicted, and the verdict on what happened. */
export async function chaos({ seed, actions, out }: Run, undo: Undo): Promise<Verdict> {
  const seen: Seen[] = [];
  const see: See = (event, when = moment()) => void seen.push({ ...when, ...event });
  const choice = new Chance(seed, -1);
  const budget = { max: choice.between(3, 8), windowMs: 1000 * choice.between(3, 8) };
  const scene = await openScene(see, budget, undo);
  scene.configure(choice.between(0, THRESHOLDS.length - 1));
  undo.push(() => {
    keep(out, seed, seen, readJournal(join(scene.directory, 'state')).records);
  });
  await scene.guard.start();
  const looking = setInterval(() => {
    scene.node.lookAtAll();
  }, LOOKS_EVERY_MS);
  undo.push(() => clearInterval(looking));
  for (let index = 0; index < actions; index++) await act(scene, see, new Chance(seed, index), index);
  const last = await lastLeak(scene, budget.windowMs, choice);
  const looksWithinMs = EVICTD_LOOKS_WITHIN_MS * SLOWNESS;
  return check(readJournal(join(scene.directory, 'state')), seen, { seed, budget, last, looksWithinMs });
}

async function act(scene: Scene, see: See, chance: Chance, index: number): Promise<void> {
  const { node } = scene;
  const [oldest] = node.workloads;
  if (node.workloads.length >= MAX_WORKLOADS && oldest) await node.retire(oldest);
  const action = chance.weighted(ACTIONS);
  see({ kind: 'action', what: `${index}: ${action.name}` });
  await action.act(scene, chance);
  await pause(chance.between(0, 400));
}

function keep(directory: string, seed: number, seen: readonly Seen[], records: readonly object[]): void {
  mkdirSync(directory, { recursive: true });
  for (const [name, lines] of Object.entries({ seen, journal: records })) {
    writeFileSync(join(directory, `seed-${seed}.${name}.jsonl`), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  }
}

async function openScene(see: See, budget: { max: number; windowMs: number }, undo: Undo): Promise<Scene> {
  const directory = mkdtempSync('/dev/shm/evictd-test-chaos-');
  undo.push(() => rmSync(directory, { recursive: true, force: true }));
  const state = join(directory, 'state');
  mkdirSync(state);
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${STATE_MIB}m`, 'evictd-test', state]);
  undo.push(() => execFileSync('umount', ['-l', state]));
  const fuse = (await fuseWorks()) ? await mountFuse() : undefined;
  const clock = new WallClock(see);
  undo.push(() => clock.restore());
  const hugePages = mountHugePages(directory, undo);
  let look = (): void => undefined;
  const units = hasUnits ? new ChaosUnits({ MemoryMax: `${NODE_MIB}M`, TasksMax: String(NODE_PROCESSES) }, see, () => look()) : undefined;
  undo.push(() => units?.close());
  const cgroup = units ? cgroupAt(`/${SLICE}`) : testCgroup(`evictd-test-chaos-${process.pid}-${Date.now().toString(36)}`);
  const node = new ChaosNode({ cgroup, scratch: directory, hugePages, see });
  look = () => node.lookAtAll();
  undo.push(() => node.close());
  const guard = new Guard(directory, see);
  // First the filesystem: it may keep a killed evictd.
  undo.push(() => guard.close());
  undo.push(() => fuse?.remove());
  const { path } = node.cgroup;
  const configure = (variant: number): void => {
    const { evictionHard, ...others } = THRESHOLDS[variant] ?? {};
    guard.configure({
      node: { cgroup: path },
      workloads: [{ cgroup: path }, ...(units ? [{ systemd: { slices: [SLICE] } }] : [])],
      rules: [
        { match: { name: 'protected-*' }, critical: true },
        { match: { name: ANCHOR }, critical: true },
        { match: { name: 'batch-*' }, priority: -1 },
      ],
      evictionHard: {
        'pid.available': '110',
        'nodefs.available': fuse ? '1%' : '0%',
        'nodefs.inodesFree': '0%',
        ...(evictionHard as object),
      },
      evictionBudget: { max: budget.max, window: `${budget.windowMs / 1000}s` },
      evictionPressureTransitionPeriod: '1s',
      monitoringInterval: '500ms',
      journal: { maxSize: '2Mi', maxFiles: 10 },
      safeMode: { crashes: 0 }, // the driver kills it
      ...(fuse && { filesystems: { nodefs: fuse.directory } }),
      ...others,
    });
  };
  return { node, guard, units, clock, hasHugePages: hugePages !== undefined, directory, fuse, nodefsHangs: false, configure };
}

/** The budget's window is over, nothing hangs, nothing leaks: the next leak has to be evicted. */
async function lastLeak({ node, guard, units, directory, fuse }: Scene, windowMs: number, chance: Chance): Promise<string> {
  await fuse?.answer();
  fillOrEmpty(directory, 'empty');
  await units?.stopAll();
  while (node.workloads[0]) await node.retire(node.workloads[0]);
  await pause(windowMs);
  const last = await node.leak('last', { ...leak(chance), mibPerSecond: 50, upToMib: 1000 });
  const state = join(directory, 'state');
  const isOver = (): boolean => {
    const { records } = readJournal(state);
    const of = (type: string): number => records.filter((record) => record.type === type).length;
    return last.pids.size === 0 && of('decision') === of('outcome');
  };
  // The checker reports what is missing.
  await eventually('the last leak is evicted', isOver, { ms: LAST_MS }).catch(() => undefined);
  await guard.end('SIGTERM');
  return last.id;
}
