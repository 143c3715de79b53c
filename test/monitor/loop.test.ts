import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { openUnitEvictor } from '../../src/evict/systemd/unit-evictor.js';
import { departuresOf } from '../../src/core/decide/departures.js';
import { inFlight, type Decision } from '../../src/core/decide/eviction.js';
import type { Layout } from '../../src/core/signal/layout.js';
import type { Stall } from '../../src/core/signal/pressure-share.js';
import type { Observations } from '../../src/core/signal/observation.js';
import type { Candidates, Workload } from '../../src/core/workload/workload.js';
import { HostError } from '../../src/errors.js';
import { SystemdUnits } from '../../src/host/linux/systemd/unit-manager.js';
import { Status } from '../../src/metrics/status.js';
import { NOTHING_RESTORED, type RestoredState } from '../../src/state/saved-state.js';
import { Journal } from '../../src/journal/journal.js';
import { Monitor } from '../../src/monitor/loop.js';
import type {
  Evictor,
  KillInProgress,
  Node,
  Reclaimer,
  StepListener,
  StepReport,
  Wake,
  WorkloadSource,
} from '../../src/monitor/ports/ports.js';
import type { PolicyPort } from '../../src/monitor/ports/policy-port.js';
import type { StandingOrders } from '../../src/monitor/standing-orders.js';
import { Releases } from '../../src/monitor/unit-releases.js';
import { Reporter } from '../../src/monitor/reporter.js';
import { StateKeeper } from '../../src/state/state-keeper.js';
import { condition, NOTIFY } from '../core/ladder/policies.js';
import { candidates, Mi, observations, onDisk, policy, SECOND, threshold, workload } from '../core/support.js';
import { Timeline } from '../core/timeline.js';
import { closeJournal } from '../support/close-journal.js';
import { eventually } from '../support/eventually.js';
import { temporaryDirectory } from '../support/temporary-directory.js';

// The ports are played here: these tests show an order, and failures that a real kernel does not give on request.
// test/e2e has the real ones.

const RUNTIME = { endpoint: 'unix:///r', podId: 'p', containers: [], isPod: true, labels: {}, byKubelet: false };
const API_POD = { kubernetes: { uid: 'u', namespace: 'default', name: 'web', labels: {}, priority: 0 } };
const evicted = (rest: Parameters<typeof workload>[1] = {}): Workload => workload('default/web', { runtime: RUNTIME, ...rest });
const hard = threshold('memory.available', '200Mi');
let directory: string;
let monitor: Monitor | undefined;
let status: Status;
let said: string[];
/** The workloads that the played evictor was called for, without the rehearsal. */
let touched: string[];
let ring: string;
/** The workloads whose processes were to be read. */
let expected: string[];
/** The texts that were saved. */
let kept: string[];
/** The collections that the played reclaimer ran. */
let collected: string[];
let listeners: StepListener[];
let policies: PolicyPort | undefined;
/** When the watchdog needs a pass. */
let heartbeat: { dueAtNs: () => bigint | undefined; beat: (nowNs: bigint) => void };
let journal: Journal;
let orders: Pick<StandingOrders, 'stands' | 'dueNs' | 'follow' | 'withdraw' | 'take' | 'adopted'> | undefined;

beforeEach(() => {
  directory = temporaryDirectory();
  said = [];
  collected = [];
  listeners = [];
  policies = undefined;
  orders = undefined;
  heartbeat = { dueAtNs: () => undefined, beat: () => undefined };
});
afterEach(async () => {
  monitor?.stop();
  await closeJournal(journal, 1_000);
});

class PlayedNode implements Node {
  identity = { name: 'played', cgroup: undefined, cgroupVersion: 1 } as const;
  availableMi = 500n;
  reads = 0;
  arms = 0;
  wake: (wake: Wake) => void = () => undefined;
  read(): Observations {
    this.reads += 1;
    return observations(process.hrtime.bigint(), { 'memory.available': this.availableMi * Mi });
  }
  layout = (): Layout => 'single';
  requestFilesystems(): void {
    // there are none
  }
  arm(_thresholds: unknown, onWake: (wake: Wake) => void): boolean {
    this.arms += 1;
    this.wake = onWake;
    return false;
  }
  notifiers = (): [] => [];
  crossing = (): undefined => undefined;
  oomKills = (): number => 0;
  stalls = (): readonly Stall[] => [];
  lookAtNs = (): bigint | undefined => undefined;
  look = (): boolean => false;
  decided = (): void => undefined;
  close(): void {
    // nothing is held
  }
}

const victim: KillInProgress = {
  terminate: () => ({ atNs: process.hrtime.bigint(), processes: 1, error: undefined }),
  kill: () => ({ atNs: process.hrtime.bigint(), processes: 1, error: undefined }),
  read: () => ({ processes: 0, usageBytes: 0n, removed: false }),
  onExit: () => undefined,
  close: () => undefined,
};

function start(
  node: Node,
  evictor: Evictor,
  found: () => Candidates,
  overrides: Parameters<typeof policy>[1] = {},
  inheritance = NOTHING_RESTORED,
  releases?: Releases,
): void {
  const log = (message: string): void => {
    said.push(message);
  };
  status = new Status();
  journal = new Journal({
    stateDirectory: join(directory, 'state'),
    runtimeDirectory: directory,
    instance: 'test',
    node: 'played',
    dryRun: overrides.dryRun ?? false,
    onError: (error) => said.push(error.message),
    onLost: () => undefined,
    limits: { maxBytes: 1 << 20, maxFiles: 2 },
    allocate: () => Promise.resolve(),
    lock: () => undefined,
    onUnreserved: () => undefined,
    onRing: () => undefined,
  });
  const workloads: WorkloadSource = {
    candidates: found,
    refresh: () => undefined,
    holding: () => undefined,
    problems: () => [],
    close: () => undefined,
  };
  const reporter = new Reporter({ debug: log, info: log, warn: log, error: log, dropped: 0, flush: () => Promise.resolve() }, status);
  const parts = {
    bootNs: () => process.hrtime.bigint(),
    node,
    workloads,
    evictor,
    reclaimer,
    journal,
    keeper: keeper(),
    reporter,
    listeners,
    heartbeat,
    processes: {
      expect: (workloads: readonly Workload[]) => void expected.push(...workloads.map(({ name }) => name)),
      decided: () => undefined,
      signalled: () => undefined,
      ended: () => undefined,
    },
    ...(releases && { releases }),
    ...(policies && { policies }),
    ...(orders && { orders: orders as StandingOrders }),
  };
  expected = [];
  monitor = new Monitor(parts, policy([hard], overrides), 3600n * SECOND, inheritance);
  monitor.start();
  vi.clearAllMocks(); // the rehearsal
  touched = [];
  ring = '';
}

/** Saves to `kept`. */
function keeper(): StateKeeper {
  kept = [];
  return new StateKeeper({
    file: { fits: () => true, write: (text) => void kept.push(text) },
    owner: { node: 'played', cgroupId: '', bootId: 'this' },
    bootNs: () => process.hrtime.bigint(),
    onShortened: () => undefined,
    sections: {},
    onError: (error) => said.push(error.message),
  });
}

const reclaimer: Reclaimer = {
  run: (collections) => {
    collected.push(...collections);
    return Promise.resolve({ errors: [] });
  },
};

const two = (): Candidates => candidates([workload('batch'), 300n * Mi], [workload('web'), 50n * Mi]);

test('before the signal, the ring has the decision with its ranking, and the saved state has the eviction', async () => {
  const node = new PlayedNode();
  let before: string | undefined;
  const evictor: Evictor = {
    begin: () => {
      before ??= kept.at(-1);
      ring = readFileSync(join(directory, 'journal-test'), 'utf8');
      node.availableMi = 500n;
      return victim;
    },
  };
  start(node, evictor, two);
  node.availableMi = 10n;
  node.wake({ source: 'sampler', atNs: process.hrtime.bigint() });
  expect(ring).toContain('"type":"decision"');
  expect(ring).toMatch(/"ranking":\[{"place":1,"name":"batch".*{"place":2,"name":"web"/);
  expect(ring).toContain('"wake":"sampler"');
  expect(before).toMatch(/"evictions":\[{"decision":{"serial":1,/);
  await vi.waitFor(() => {
    expect(status.count('evictd_evictions_total', 'memory.available')).toBe(1);
  }, 30_000);
});

test('a failed kill is not counted, and the next candidate is evicted at once', async () => {
  const node = new PlayedNode();
  const evictor: Evictor = {
    begin: ({ name }) => {
      touched.push(name);
      if (name === 'batch') throw new HostError('EVICTD_KILL_FAILED', 'EPERM', { errno: 'EPERM' });
      node.availableMi = 500n;
      return victim;
    },
  };
  start(node, evictor, two);
  node.availableMi = 10n;
  node.wake({ source: 'sampler', atNs: process.hrtime.bigint() });
  await vi.waitFor(() => {
    expect(status.count('evictd_evictions_total', 'memory.available')).toBe(1);
  }, 30_000);
  expect(touched).toEqual(['batch', 'web']);
  expect(status.count('evictd_evictions_failed_total', 'memory.available')).toBe(1);
});

test('a victim that ended before the signal is neither an eviction nor a failure', async () => {
  const node = new PlayedNode();
  const evictor: Evictor = {
    begin: ({ name }) => {
      if (name === 'batch') throw new HostError('EVICTD_KILL_GONE', 'ESTALE', { errno: 'ESTALE' });
      node.availableMi = 500n;
      return victim;
    },
  };
  start(node, evictor, two);
  node.availableMi = 10n;
  node.wake({ source: 'sampler', atNs: process.hrtime.bigint() });
  await vi.waitFor(() => {
    expect(status.count('evictd_evictions_total', 'memory.available')).toBe(1);
  }, 30_000);
  expect(status.count('evictd_evictions_failed_total', 'memory.available')).toBe(0);
  expect(said).toContainEqual(expect.stringContaining('batch ended before it was evicted'));
});

test('when the largest workload ends by itself during the reading, no workload is evicted for the memory that it freed', () => {
  const node = new PlayedNode();
  let killed = false;
  const found = (): Candidates => {
    if (!killed) return two();
    node.availableMi = 500n;
    return candidates([workload('web'), 50n * Mi]);
  };
  const reports: StepReport[] = [];
  listeners.push({ stepped: (report) => reports.push(report), close: () => undefined });
  start(node, { begin: () => victim }, found);
  killed = true;
  node.availableMi = 10n;
  node.wake({ source: 'sampler', atNs: process.hrtime.bigint() });
  const last = reports.at(-1);
  expect(last?.effects.map(({ kind }) => kind)).not.toContain('evict');
  expect(last?.rechecks.map(({ observed }) => observed.get('memory.available')?.available)).toEqual([500n * Mi]);
  expect(last?.observations?.observed.get('memory.available')?.available).toBe(10n * Mi);
});

test('SIGKILL is repeated while processes are left', async () => {
  const node = new PlayedNode();
  let left = 5;
  let kills = 0;
  const forking: KillInProgress = {
    ...victim,
    kill: () => {
      kills += 1;
      left -= 1;
      return { atNs: process.hrtime.bigint(), processes: left, error: undefined };
    },
    read: () => ({ processes: left, usageBytes: BigInt(left) * 50n * Mi, removed: false }),
  };
  start(node, { begin: () => forking }, two);
  node.availableMi = 10n;
  node.wake({ source: 'sampler', atNs: process.hrtime.bigint() });
  node.availableMi = 500n;
  await vi.waitFor(() => {
    expect(status.count('evictd_evictions_total', 'memory.available')).toBe(1);
  }, 30_000);
  expect(kills).toBe(5);
});

test('the exit of the last process is handled when it is reported, not with the next reading', () => {
  const node = new PlayedNode();
  let left = 1;
  const exits: ((atNs: bigint) => void)[] = [];
  let closed = 0;
  const slow: KillInProgress = {
    ...victim,
    onExit: (callback) => exits.push(callback),
    read: () => ({ processes: left, usageBytes: BigInt(left) * 50n * Mi, removed: false }),
    close: () => (closed += 1),
  };
  start(node, { begin: () => slow }, two);
  closed = 0; // the rehearsal
  node.availableMi = 10n;
  node.wake({ source: 'sampler', atNs: process.hrtime.bigint() });
  expect(exits).toHaveLength(1);
  node.availableMi = 500n;
  left = 0;
  const atNs = process.hrtime.bigint();
  exits[0]?.(atNs);
  expect(status.count('evictd_evictions_total', 'memory.available')).toBe(1); // at once, before any timer
  expect(closed).toBe(1);
  monitor?.stop();
  const reads = node.reads;
  exits[0]?.(atNs);
  expect(node.reads).toBe(reads);
});

test('a dry run opens no victim', () => {
  const node = new PlayedNode();
  const begin = vi.fn<Evictor['begin']>();
  start(node, { begin }, two, { dryRun: true });
  node.availableMi = 10n;
  node.wake({ source: 'sampler', atNs: process.hrtime.bigint() });
  expect(begin).not.toHaveBeenCalled();
  expect(said).toContainEqual(expect.stringContaining('dry run: would evict batch'));
});

test('wakes that decide nothing are handled at the rate of the sampler, and none is lost', async () => {
  const node = new PlayedNode();
  start(node, { begin: () => victim }, two);
  const before = node.reads;
  const began = performance.now();
  for (let i = 0; i < 1000; i += 1) node.wake({ source: 'memcg_threshold', atNs: process.hrtime.bigint() });
  expect(node.reads - before).toBeLessThan(100 + performance.now() - began); // eight at once, then one every 5 ms
  node.availableMi = 10n;
  await vi.waitFor(() => {
    expect(said).toContainEqual(expect.stringContaining('evicting batch'));
  }, 30_000);
});

test('an approach after an idle time reads all values and decides nothing, and the crossing after it does not wait', async () => {
  const node = new PlayedNode();
  const found = vi.fn(two);
  const stepped = vi.fn<StepListener['stepped']>();
  listeners.push({ stepped, close: () => undefined });
  start(node, { begin: () => victim }, found);
  const { reads, arms } = node;
  await new Promise((resolve) => setTimeout(resolve, 250)); // until the caches count as cold
  const atNs = process.hrtime.bigint();
  node.availableMi = 10n;
  for (let swings = 0; swings < 100; swings += 1) node.wake({ source: 'sampler', atNs, approaching: true });
  expect([node.reads - reads, node.arms - arms, stepped.mock.calls.length]).toEqual([1, 0, 0]);
  expect(found.mock.calls.length).toBeLessThanOrEqual(1); // 0: the rehearsal before took longer than 5 ms
  expect(said).toEqual([]);
  node.wake({ source: 'sampler', atNs });
  expect(said).toContainEqual(expect.stringContaining('evicting batch'));
});

test.each([
  ['a standing order is renewed', true, []],
  ['a standing order is tried first where none can be given, then a decision is rehearsed', false, ['batch']],
])('on an approach %s', (_what, stands, rehearsed) => {
  const node = new PlayedNode();
  const before: string[][] = [];
  orders = {
    ...{ stands, dueNs: undefined },
    follow: () => void before.push([...expected]),
    ...{ withdraw: () => true, take: () => undefined, adopted: () => undefined },
  };
  start(node, { begin: () => victim }, two);
  before.length = expected.length = 0;
  node.wake({ source: 'sampler', atNs: process.hrtime.bigint(), approaching: true });
  expect([before, expected]).toEqual([[[]], rehearsed]);
});

test('without a workload source candidates are never read', () => {
  const node = new PlayedNode();
  const found = vi.fn(two);
  start(node, { begin: () => victim }, found, { hasWorkloadSource: false });
  node.availableMi = 10n;
  node.wake({ source: 'sampler', atNs: process.hrtime.bigint() });
  expect(found).not.toHaveBeenCalled();
  expect(said).toContainEqual(expect.stringContaining('no workload source is configured'));
});

test('after a stop no wake causes a decision', () => {
  const node = new PlayedNode();
  const begin = vi.fn<Evictor['begin']>();
  start(node, { begin }, two);
  monitor?.stop();
  vi.clearAllMocks();
  node.availableMi = 10n;
  monitor?.reconfigure(policy([hard]), SECOND);
  node.wake({ source: 'sampler', atNs: process.hrtime.bigint() });
  expect(begin).not.toHaveBeenCalled();
});

test('reclaim runs, and the filesystems are read, before a workload is evicted for a disk', async () => {
  class Disk extends PlayedNode {
    freeMi = 500n;
    requested: ((outstanding: number) => void)[] = [];
    override read(): Observations {
      return observations(process.hrtime.bigint(), { 'nodefs.available': this.freeMi * Mi });
    }
    override requestFilesystems(onAnswer?: (outstanding: number) => void): void {
      if (onAnswer) this.requested.push(onAnswer);
    }
  }
  const node = new Disk();
  const begin = vi.fn<Evictor['begin']>(() => victim);
  const thresholds = [threshold('nodefs.available', '200Mi')];
  start(node, { begin }, () => onDisk(two()), {
    thresholds,
    evictable: new Set(['ephemeral-storage']),
    collections: new Set(['containers', 'images']),
  });
  begin.mockClear();
  node.freeMi = 10n;
  node.requested = [];
  node.wake({ source: 'sampler', atNs: process.hrtime.bigint() });
  await vi.waitFor(() => {
    expect(node.requested).toHaveLength(1);
  }, 30_000);
  expect(collected).toEqual(['containers', 'images']);
  expect(begin).not.toHaveBeenCalled();
  node.freeMi = 20n;
  node.requested[0]?.(1);
  expect(begin).not.toHaveBeenCalled();
  node.requested[0]?.(0);
  expect(begin).toHaveBeenCalledOnce();
});

/** Ticks every 20 ms until `count` are over. Returns what woke the passes meanwhile. */
async function ticks(node: PlayedNode, listener: Partial<StepListener>, count = 12): Promise<string[]> {
  const passes: string[] = [];
  let skipped = 0;
  const report: NonNullable<StepListener['skipped']> = (...args) => {
    skipped += 1;
    return listener.skipped?.(...args) ?? true;
  };
  listeners.push({
    stepped: ({ wake }) => passes.push(wake.source),
    close: () => undefined,
    ...('skipped' in listener && { skipped: report }),
  });
  start(node, { begin: () => victim }, two);
  monitor?.reconfigure(policy([hard]), 20_000_000n);
  passes.length = 0;
  await eventually('some ticks', () => passes.length + skipped >= count);
  return passes;
}

class SteadyNode extends PlayedNode {
  isSteady = true;
  steady = (): Observations | undefined => (this.isSteady ? this.read() : undefined);
  override notifiers = (): [] =>
    [
      { mechanism: 'sampler', signal: 'memory.available', target: '', live: true, reason: undefined, hint: undefined, essential: true },
    ] as never;
}

test('at rest one of thirty ticks makes a pass and four look at the node; all count as signs of life', async () => {
  let beats = 0;
  heartbeat = { dueAtNs: () => undefined, beat: () => (beats += 1) };
  const seen: (bigint | undefined)[] = [];
  const skipped: StepListener['skipped'] = (_nowNs, observations) => {
    seen.push(observations?.observed.get('memory.available')?.available);
    return true;
  };
  const passes = await ticks(new SteadyNode(), { skipped }, 60);
  const available = new SteadyNode().read().observed.get('memory.available')?.available;
  const between = [undefined, undefined, undefined, undefined, undefined];
  const toLook = [...between, available];
  expect(seen.slice(0, 29)).toEqual([...toLook, ...toLook, ...toLook, ...toLook, ...between]);
  expect(passes.filter((source) => source === 'tick').length).toBeGreaterThan(0);
  expect(passes.length).toBeLessThan(6);
  expect(beats).toBeGreaterThanOrEqual(60);
});

test('a tick that looks at the node makes a pass where the limits have moved', async () => {
  const node = new SteadyNode();
  node.isSteady = false;
  const passes = await ticks(node, { skipped: () => true }, 18);
  expect(passes.filter((source) => source === 'tick').length).toBeGreaterThanOrEqual(2);
});

test.each<[rule: string, change: (node: SteadyNode) => void, listener: Partial<StepListener>]>([
  ['the node does not say whether it is steady', (node) => (node.steady = undefined as never), { skipped: () => true }],
  ['a listener needs a pass now', () => undefined, { skipped: () => false }],
  ['a listener needs each', () => undefined, {}],
])('each tick makes a pass where %s', async (_rule, change, listener) => {
  const node = new SteadyNode();
  change(node);
  const passes = await ticks(node, listener, 8);
  expect(passes.filter((source) => source === 'tick').length).toBeGreaterThanOrEqual(4);
});

test.each<[rule: string, makes: boolean, change: (node: SteadyNode) => void]>([
  ['nothing has changed', false, () => undefined],
  ['the limits have moved', true, (node) => (node.isSteady = false)],
  ['a threshold is met', true, (node) => (node.availableMi = 100n)],
  ['a signal cannot be read', true, (node) => (node.steady = () => ({ ...node.read(), missing: new Map([['nodefs.available', 'x']]) }))],
])('whether the answer of the filesystems to a tick makes a pass where %s: %s', async (_rule, makes, change) => {
  const asked: ((outstanding: number) => void)[] = [];
  class AskedNode extends SteadyNode {
    override requestFilesystems(onAnswer?: (outstanding: number) => void): void {
      if (onAnswer) asked.push(onAnswer);
    }
  }
  const node = new AskedNode();
  const passes: string[] = [];
  listeners.push({ stepped: ({ wake }) => passes.push(wake.source), close: () => undefined });
  start(node, { begin: () => victim }, two);
  monitor?.reconfigure(policy([hard]), 20_000_000n);
  asked.length = 0;
  await eventually('a tick', () => passes.includes('tick'));
  change(node);
  asked.at(-1)?.(0);
  expect(passes.includes('filesystem')).toBe(makes);
});

const PLAYED_POLICIES = {
  ...{ bytesPerSecond: Infinity, watchedPressure: new Set<string>(), workloads: () => [], processes: () => [], perform: () => undefined },
  ...{ results: () => [], close: () => undefined },
};

test('a tick judges the policies that are due before the next one, with one wake for both', async () => {
  let isTick = false;
  const looks: boolean[] = [];
  policies = {
    ...PLAYED_POLICIES,
    read: () => {
      looks.push(isTick);
      return { node: { path: '', timeNs: process.hrtime.bigint(), values: new Map() }, scopes: new Map() };
    },
  };
  const skipped = (): boolean => {
    isTick = true;
    queueMicrotask(() => (isTick = false));
    return true;
  };
  listeners.push({ stepped: () => undefined, skipped, close: () => undefined });
  const when = condition('memory.available falling over 1s', 'node');
  const inForce = policy([hard], { policies: [{ name: 'p', when, forNs: 0n, cooldownNs: SECOND, then: [NOTIFY] }] });
  start(new SteadyNode(), { begin: () => victim }, two);
  monitor?.reconfigure(inForce, 400_000_000n); // the policy is due every 500 ms
  looks.length = 0;
  await eventually('it is judged three times', () => looks.length >= 3);
  expect(looks).toEqual([true, true, true]);
});

test('a policy that is not met is judged without a pass, and the first pass that finds it met acts', async () => {
  const node = new SteadyNode();
  let reads = 0;
  policies = {
    ...PLAYED_POLICIES,
    read: () => {
      reads += 1;
      return { node: { path: '', timeNs: process.hrtime.bigint(), values: new Map() }, scopes: new Map() };
    },
  };
  const passes: StepReport[] = [];
  listeners.push({ stepped: (report) => passes.push(report), skipped: () => true, close: () => undefined });
  const when = condition('memory.available falling over 2s', 'node');
  const one = { name: 'p', when, forNs: 0n, cooldownNs: SECOND, then: [NOTIFY] } as const;
  start(node, { begin: () => victim }, two, { policies: [one] });
  const before = passes.length;
  const [readBefore, nodeBefore] = [reads, node.reads];
  await eventually('it is judged three times', () => reads >= readBefore + 3);
  expect([passes.length, node.reads - nodeBefore]).toEqual([before, reads - readBefore]);
  node.read = () => {
    node.availableMi -= 1n;
    return SteadyNode.prototype.read.call(node);
  };
  await eventually('it acts', () => passes.some(({ effects }) => effects.some(({ kind }) => kind === 'policy')));
  expect(passes.slice(before).map(({ wake }) => wake.source)[0]).toBe('deadline');
});

test('a client of the metrics gets a new reading without a pass', async () => {
  const node = new PlayedNode();
  const stepped = vi.fn();
  listeners.push({ stepped, close: () => undefined });
  start(node, { begin: () => victim }, two);
  stepped.mockClear();
  node.availableMi = 300n;
  node.stalls = () => [{ resource: 'io', kind: 'some', seconds: 3, averages: { avg10: 0, avg60: 0, avg300: 0 } }];
  monitor?.renew();
  expect(status.stalls).toEqual(node.stalls());
  const available = (): bigint | undefined => status.observations.observed.get('memory.available')?.available;
  expect(available()).toBe(500n * Mi); // less than a second old
  await eventually('it is old enough', () => (monitor?.renew(), available() === 300n * Mi));
  expect(stepped).not.toHaveBeenCalled();
});

test('a timer that fires a fraction of a millisecond early causes a tick at the right time, and no pass before it', async () => {
  const inTime = setTimeout;
  const timers = vi.spyOn(globalThis, 'setTimeout').mockImplementation((callback, ms = 0, ...rest) => inTime(callback, ms - 2, ...rest));
  onTestFinished(() => timers.mockRestore());
  const woken: string[] = [];
  listeners.push({ stepped: ({ wake }) => woken.push(wake.source), close: () => undefined });
  start(new PlayedNode(), { begin: () => victim }, two);
  monitor?.reconfigure(policy([hard]), 20_000_000n);
  woken.length = 0;
  await eventually('some ticks', () => woken.length > 4);
  expect(new Set(woken)).toEqual(new Set(['tick']));
});

test('listeners get the input, the candidates and the result of every step', () => {
  const reports: StepReport[] = [];
  const close = vi.fn();
  listeners.push({ stepped: (report) => reports.push(report), close });
  const node = new PlayedNode();
  start(node, { begin: () => victim }, two);
  node.availableMi = 10n;
  node.wake({ source: 'sampler', atNs: process.hrtime.bigint() });
  monitor?.stop();
  expect(reports.map(({ wake }) => wake.source)).toEqual(['start', 'sampler']);
  const [first, second] = reports;
  expect(first?.candidates).toEqual([]);
  expect(second?.candidates.map(({ usages }) => usages.length)).toEqual([2]);
  expect(second?.observations?.observed.get('memory.available')?.available).toBe(10n * Mi);
  expect(second?.effects.map(({ kind }) => kind)).toContain('evict');
  expect(second?.state.evictions).toHaveLength(1);
  expect(close).toHaveBeenCalledOnce();
});

test('a listener that throws ends neither the loop nor the other listeners, and is reported once', () => {
  const node = new PlayedNode();
  const calls: string[] = [];
  const broken = (): never => {
    throw new TypeError('broken');
  };
  listeners.push({ stepped: broken, close: broken }, { stepped: ({ wake }) => calls.push(wake.source), close: () => calls.push('close') });
  start(node, { begin: () => victim }, two);
  node.availableMi = 10n;
  node.wake({ source: 'sampler', atNs: process.hrtime.bigint() });
  monitor?.stop();
  expect(calls).toEqual(['start', 'sampler', 'close']);
  expect(said.filter((message) => message.includes('TypeError: broken'))).toHaveLength(1);
});

test('with compatibility kubelet no victim is chosen for 30 s after a failed kill, whatever wakes evictd', async () => {
  const node = new PlayedNode();
  const evictor: Evictor = {
    begin: ({ name }) => {
      touched.push(name);
      throw new HostError('EVICTD_KILL_FAILED', 'EPERM', { errno: 'EPERM' });
    },
  };
  start(node, evictor, two, { departures: departuresOf('kubelet') });
  node.availableMi = 10n;
  node.wake({ source: 'sampler', atNs: process.hrtime.bigint() });
  await vi.waitFor(() => {
    expect(said).toContainEqual(expect.stringContaining('could not evict batch'));
  }, 30_000);
  const before = node.reads;
  for (let i = 0; i < 5; i += 1) {
    node.wake({ source: 'sampler', atNs: process.hrtime.bigint() });
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  expect(touched).toEqual(['batch']);
  expect(node.reads).toBe(before);
  expect(status.count('evictd_evictions_total', 'memory.available')).toBe(1); // as in the kubelet
  monitor?.reconfigure(policy([hard]), 3600n * SECOND);
  expect(touched.slice(0, 2)).toEqual(['batch', 'batch']); // a reload with departure failed-kill does not wait any more
});

test('the node is told which readings were used for a decision, and not those that only warm up or wait', () => {
  const node = Object.assign(new PlayedNode(), { decided: vi.fn<Node['decided']>() });
  start(node, { begin: () => victim }, two);
  node.decided.mockClear(); // the first pass
  node.availableMi = 150n;
  node.wake({ source: 'sampler', atNs: process.hrtime.bigint(), approaching: true });
  expect(node.decided).not.toHaveBeenCalled();
  node.wake({ source: 'sampler', atNs: process.hrtime.bigint() });
  const amounts = node.decided.mock.calls.map(([{ observed }]) => observed.get('memory.available')?.available);
  expect(amounts).toEqual([150n * Mi]);
});

test('a node that needs readings between two passes is read, and a pass follows only after a crossing', async () => {
  const node = new PlayedNode();
  let lookAtNs = 0n;
  let looks = 0;
  let crossed = false;
  const looking = Object.assign(node, {
    lookAtNs: () => lookAtNs,
    look: () => {
      looks += 1;
      lookAtNs = process.hrtime.bigint() + 5_000_000n;
      return crossed;
    },
  });
  const sources: string[] = [];
  listeners = [{ stepped: ({ wake }) => void sources.push(wake.source), close: () => undefined }];
  start(looking, { begin: () => victim }, two);
  await vi.waitFor(() => {
    expect(looks).toBeGreaterThan(3);
  }, 30_000);
  expect(sources).not.toContain('look');
  crossed = true;
  await vi.waitFor(() => {
    expect(sources).toContain('look');
  }, 30_000);
  expect(sources).not.toContain('sampler'); // in the native layer
});

test('passes are made as often as the watchdog needs, however long the interval, and each is reported', async () => {
  const node = new PlayedNode();
  const sources: string[] = [];
  const beats: bigint[] = [];
  let dueAtNs = process.hrtime.bigint();
  listeners = [{ stepped: ({ wake }) => void sources.push(wake.source), close: () => undefined }];
  heartbeat = {
    dueAtNs: () => dueAtNs,
    beat: (nowNs) => {
      beats.push(nowNs);
      dueAtNs = nowNs + 5_000_000n;
    },
  };
  start(node, { begin: () => victim }, two);
  await vi.waitFor(() => {
    expect(sources.filter((source) => source === 'watchdog').length).toBeGreaterThan(3);
  }, 30_000);
  expect(beats).toHaveLength(sources.length);
  expect(node.reads).toBe(sources.length);
});

test('while no victim may be chosen the node is still read for the watchdog, and nothing is decided', async () => {
  const node = new PlayedNode();
  const evictor: Evictor = {
    begin: ({ name }) => {
      touched.push(name);
      throw new HostError('EVICTD_KILL_FAILED', 'EPERM', { errno: 'EPERM' });
    },
  };
  let dueAtNs: bigint | undefined;
  let beats = 0;
  heartbeat = {
    dueAtNs: () => dueAtNs,
    beat: (nowNs) => {
      beats += 1;
      if (dueAtNs !== undefined) dueAtNs = nowNs + 5_000_000n;
    },
  };
  start(node, evictor, two, { departures: departuresOf('kubelet') });
  node.availableMi = 10n;
  dueAtNs = process.hrtime.bigint();
  node.wake({ source: 'sampler', atNs: process.hrtime.bigint() });
  await vi.waitFor(() => {
    expect(beats).toBeGreaterThan(5);
  }, 30_000);
  expect(touched).toEqual(['batch']);
});

/** An eviction of `batch` that the evictd before has just decided, and whose signal was sent. */
function before(decided: Partial<Decision>): RestoredState {
  const timeline = new Timeline(policy([hard]), two());
  timeline.memory(100, 10n);
  const decision = { ...timeline.state.evictions[0]?.decision, decidedAtNs: process.hrtime.bigint(), ...decided } as Decision;
  const eviction = inFlight(decision);
  const { decidedAtNs: atNs, serial, unit } = decision;
  const sent = eviction.phase === 'dying' ? 'killNs' : 'signalNs';
  const times = { crossingNs: atNs, wakeNs: atNs, decisionNs: atNs, signalNs: atNs, killNs: sent === 'killNs' ? atNs : undefined };
  return {
    ...NOTHING_RESTORED,
    state: {
      ...NOTHING_RESTORED.state,
      decisions: 1,
      evictions: [eviction],
      ...(unit?.hold && { held: new Map([[unit.hold.unit, unit.hold]]) }),
    },
    signals: new Map([[serial, { times, sent }]]),
  };
}

test('a unit that an earlier evictd killed and kept stopped stays held while systemd cannot be reached yet', async () => {
  const name = 'batch.service';
  const hold = { unit: name, decision: 1, start: [name], unstarted: [], condition: 'MemoryPressure', untilNs: undefined } as const;
  const stop = { kind: 'stop', dependants: [], triggers: [], timers: [], running: [name], restarts: true, affected: [] } as const;
  const found = candidates([workload(name, { unit: { name, manager: 'system' } }), 300n * Mi]);
  const inherited = before({ victim: found.usages[0] as Decision['victim'], unit: { evictions: 3, stop, hold } });
  let left = 1;
  const killed: KillInProgress = {
    ...victim,
    kill: () => ({ atNs: process.hrtime.bigint(), processes: (left = 0), error: undefined }),
    read: () => ({ processes: left, usageBytes: 0n, removed: false }),
  };
  const units = new SystemdUnits([{ path: join(directory, 'absent'), daemon: false }]);
  onTestFinished(() => {
    units.close();
  });
  const releases = new Releases(units, () => undefined);
  const evictor = openUnitEvictor(
    { begin: () => killed },
    units,
    () => 'awaited',
    (refused) => {
      releases.notStopped(refused);
    },
  );
  start(new PlayedNode(), evictor, () => found, {}, inherited, releases);
  await vi.waitFor(() => {
    expect(said).toContainEqual(expect.stringMatching(/^evicted batch\.service/));
  }, 30_000);
  expect([left, status.heldUnits]).toEqual([0, 1]);
});

test.each<[rule: string, then: () => Candidates, came: RegExp | undefined, of?: Partial<Workload>]>([
  [
    'has no source at the API server',
    () => candidates([workload('web'), Mi]),
    /abandoned: no workload source includes it any more/,
    API_POD,
  ],
  ['is critical', () => candidates([evicted({ protection: { kind: 'critical' } }), Mi]), /abandoned: it may not be evicted any more/],
  ['has no source', () => candidates([workload('web'), Mi]), /abandoned: no workload source includes it any more/],
  ['is unchanged', () => candidates([evicted(), Mi]), undefined],
])('a pod that got SIGTERM before a restart is not abandoned until it is reported that it %s', (_rule, then, came, of) => {
  let found: () => Candidates = () => ({ ...candidates([workload('web'), Mi]), awaitedRuntimes: [of ? 'kubernetes' : RUNTIME.endpoint] });
  const node = new PlayedNode();
  const alive: KillInProgress = {
    ...victim,
    read: () => ({ processes: 1, usageBytes: 0n, removed: false }),
  };
  const inherited = before({ graceNs: 60n * SECOND, victim: candidates([evicted(of), Mi]).usages[0] as Decision['victim'] });
  start(node, { begin: () => alive }, () => found(), {}, inherited);
  expect(said.filter((text) => text.includes('abandoned'))).toEqual([]);
  expect(monitor?.remaining.evictions.filter(({ phase }) => phase === 'terminating')).toHaveLength(1);
  found = then;
  node.wake({ source: 'psi_trigger', atNs: process.hrtime.bigint() });
  expect(said.filter((text) => text.includes('abandoned'))).toEqual(came ? [expect.stringMatching(came)] : []);
  expect(monitor?.remaining.evictions.filter(({ phase }) => phase === 'terminating')).toHaveLength(came ? 0 : 1);
});

test.each<[now: string, left: number, found: () => Candidates, came: RegExp | undefined]>([
  [
    'is critical',
    1,
    () => candidates([workload('batch', { protection: { kind: 'critical' } }), Mi]),
    /abandoned: it may not be evicted any more: critical/,
  ],
  [
    'has a name that cannot be found',
    1,
    () => candidates([workload('batch', { protection: { kind: 'unreported', what: 'lost name' } }), Mi]),
    /abandoned: it may not be evicted any more: its name cannot be found/,
  ],
  ['is in no source', 1, () => candidates([workload('web'), Mi]), /abandoned: no workload source includes it any more/],
  ['is unchanged', 1, two, undefined],
  ['has gone', 0, () => candidates([workload('web'), Mi]), /evicted batch/],
])('a reload after which a terminating victim %s is handled like a restart', (_now, left, found, came) => {
  const sent: string[] = [];
  let processes = 1;
  let configured = two;
  const asked: KillInProgress = {
    ...victim,
    terminate: () => ({ atNs: BigInt(sent.push('TERM')), processes, error: undefined }),
    kill: () => ({ atNs: BigInt(sent.push('KILL')), processes, error: undefined }),
    read: () => ({ processes, usageBytes: 0n, removed: processes === 0 }),
  };
  start(new PlayedNode(), { begin: () => asked }, () => configured(), {}, before({ graceNs: 60n * SECOND }));
  said = [];
  [processes, configured] = [left, found];
  monitor?.reconfigure(policy([hard]), 3600n * SECOND);
  expect(said).toEqual(came ? [expect.stringMatching(came)] : []);
  expect(monitor?.remaining.evictions.filter(({ phase }) => phase === 'terminating')).toHaveLength(came ? 0 : 1);
  expect(sent).toEqual([]);
});

test.each<[rule: string, tookNs: bigint, calls: readonly string[]]>([
  ['is rehearsed', 0n, ['open', 'close']],
  ['that took long is not rehearsed, and the processes of its victim are read', 6_000_000n, []],
])('on the approach to a threshold a decision %s, and nothing is recorded, saved or signalled', (_rule, tookNs, again) => {
  let nowNs = 60n * SECOND;
  const clock = vi.spyOn(process.hrtime, 'bigint').mockImplementation(() => nowNs);
  onTestFinished(() => {
    clock.mockRestore();
  });
  const node = new PlayedNode();
  const calls: string[] = [];
  const begin = (): KillInProgress => {
    nowNs += tookNs;
    calls.push('open');
    const note = (call: string) => () => void calls.push(call);
    return { ...victim, kill: () => (calls.push('kill'), victim.kill()), rehearse: note('rehearse'), close: note('close') };
  };
  start(node, { begin }, two);
  expect(calls.slice(0, 3)).toEqual(['open', 'rehearse', 'close']); // at the start, with signal 0
  calls.length = 0;
  const before = [readFileSync(join(directory, 'journal-test')).toString('latin1'), kept.length, said.length];
  const approaching = { source: 'sampler', atNs: process.hrtime.bigint(), approaching: true } as const;
  node.wake(approaching);
  node.wake(approaching); // within 200 ms the caches are warm
  expect([calls, expected]).toEqual([again, ['batch']]);
  expect([readFileSync(join(directory, 'journal-test')).toString('latin1'), kept.length, said.length]).toEqual(before);
});
