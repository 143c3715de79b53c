import { expect, test } from 'vitest';
import { inFlight, type Decision, type Outcome } from '../../../src/core/decide/eviction.js';
import { parseQuantity } from '../../../src/core/quantity/quantity.js';
import type { StorageBreach } from '../../../src/core/disk/storage-limit.js';
import { thresholdId } from '../../../src/core/threshold/threshold.js';
import { alertRecord } from '../../../src/monitor/effects/alert.js';
import { error } from '../../../src/monitor/effects/error.js';
import { decisionRecord } from '../../../src/journal/records/decision-record.js';
import { outcomeRecord } from '../../../src/monitor/effects/outcome.js';
import { reclaimRecord } from '../../../src/monitor/effects/reclaim.js';
import { journalLine, startRecord, unfinishedRecord, type JournalRecord } from '../../../src/journal/records/record.js';
import type { Wake } from '../../../src/monitor/ports/ports.js';
import { Gi, Mi, observations, requesting, SECOND, threshold } from '../../core/support.js';
import { decisionOf } from '../decision.js';

const TICK = { source: 'tick', atNs: 0n } as const;

const row = (made: Decision): unknown => (decisionRecord(made, TICK).ranking as readonly unknown[])[0];

test.each<[rule: string, made: Decision, fields: Readonly<Record<string, unknown>>]>([
  [
    'memory: working set, usage, request and what is above it',
    decisionOf('memory.available', { requests: requesting(64n * Mi) }, { workingSetBytes: 100n * Mi, usageBytes: 120n * Mi }),
    { workingSetBytes: 104857600, usageBytes: 125829120, requestBytes: 67108864, aboveRequestBytes: 37748736 },
  ],
  ['memory that is unknown as absent, not zero', decisionOf('memory.available', {}, undefined), { requestBytes: 0, aboveRequestBytes: 0 }],
  [
    'half a byte is requested',
    decisionOf('memory.available', { requests: { memory: 100_500_000_000n, ephemeralStorage: 0n, inodes: 0n } }, { workingSetBytes: 200n }),
    { workingSetBytes: 200, requestBytes: 100.5, aboveRequestBytes: 99.5 },
  ],
  [
    'beyond 2^53: text',
    decisionOf('memory.available', {}, { workingSetBytes: 2n ** 60n, usageBytes: 2n ** 60n }),
    {
      workingSetBytes: '1152921504606846976',
      usageBytes: '1152921504606846976',
      requestBytes: 0,
      aboveRequestBytes: '1152921504606846976',
    },
  ],
  [
    'swap, where pressure is short of memory',
    decisionOf('memory.pressure.full', {}, { workingSetBytes: 100n, usageBytes: 120n, swapBytes: 30n }),
    { workingSetBytes: 100, usageBytes: 120, swapBytes: 30, requestBytes: 0, aboveRequestBytes: 130 },
  ],
  ['processes', decisionOf('pid.available', {}, { processes: 7n }), { processes: 7 }],
])('a row of the ranking has %s', (_rule, made, fields) => {
  const { exceedsRequest, ...rest } = row(made) as Record<string, unknown>;
  expect(typeof exceedsRequest).toBe('boolean');
  expect(rest).toEqual({ place: 1, name: 'batch', priority: 0, startOrder: 0, path: '/batch', ...fields });
});

test('a decision for a threshold has the reading, the limit and the wake', () => {
  const made = decisionOf('memory.available', {}, { workingSetBytes: 1n, usageBytes: 2n });
  const { ranking, message, ...fields } = decisionRecord(made, TICK);
  expect(ranking).toHaveLength(1);
  expect(message).toMatch(/^evicting batch with SIGKILL/);
  expect(fields).toEqual({
    type: 'decision',
    decision: 1,
    dryRun: false,
    signal: 'memory.available',
    kind: 'hard',
    threshold: '100Mi',
    thresholdValue: 104857600,
    available: 52428800,
    capacity: Number(Gi),
    source: 'test',
    limit: 104857600,
    wake: 'tick',
    wakeAtNs: 0,
    victim: { name: 'batch', path: '/batch', id: 'id-batch' },
    action: 'SIGKILL',
    graceSeconds: 0,
    expectedBytes: 1,
    counts: { ranking: 1, unreadable: 0 },
    unreadable: [],
  });
});

test('a decision after an OOM kill names the counters that changed', () => {
  const wake: Wake = { source: 'memcg_events', atNs: 1n, counters: ['max', 'oom_kill'] };
  expect(decisionRecord(decisionOf('memory.available', {}, {}), wake)).toMatchObject({
    wake: 'memcg_events',
    wakeCounters: ['max', 'oom_kill'],
  });
});

test.each<[breach: StorageBreach, signal: string, storageLimit: Readonly<Record<string, unknown>>]>([
  [
    { kind: 'emptyDir', volume: 'cache', limit: parseQuantity('1Gi') },
    'emptydirfs.limit',
    { kind: 'emptyDir', volume: 'cache', limit: '1Gi', limitBytes: 1073741824 },
  ],
  [{ kind: 'pod', limit: parseQuantity('2Gi') }, 'ephemeralpodfs.limit', { kind: 'pod', limit: '2Gi', limitBytes: 2147483648 }],
  [
    { kind: 'container', container: 'app', limit: parseQuantity('100500m') },
    'ephemeralcontainerfs.limit',
    { kind: 'container', container: 'app', limit: '100500m', limitBytes: 101 },
  ],
])("a decision for a workload's own limit has the limit: %o", (breach, signal, storageLimit) => {
  const made = { ...decisionOf('nodefs.available', {}, {}), cause: { kind: 'storage-limit', breach } as const };
  expect(decisionRecord(made, TICK)).toMatchObject({ signal, kind: 'storage-limit', storageLimit });
  expect(decisionRecord(made, TICK)).not.toHaveProperty('available');
  const outcome: Outcome = {
    result: 'killed',
    counted: true,
    decision: made,
    atNs: SECOND,
    expectedBytes: 0n,
    freedBytes: 0n,
    removed: true,
    processesLeft: 0,
    error: undefined,
    nodeAfter: undefined,
  };
  expect(outcomeRecord(outcome, undefined)).toMatchObject({ type: 'outcome', signal });
  expect(outcomeRecord(outcome, undefined)).not.toHaveProperty('nodeAvailableBefore');
  const little = { ...outcome, result: 'ineffective', nodeFreedBytes: -5n, notFreed: 'taken' } as const;
  expect(outcomeRecord(little, undefined)).toMatchObject({ nodeFreedBytes: -5, notFreed: 'taken' });
  for (const field of ['nodeFreedBytes', 'notFreed']) expect(outcomeRecord(outcome, undefined)).not.toHaveProperty(field);
});

test('a record of node-level reclaim has the value before and the freed amount', () => {
  const observed = observations(0n, { 'nodefs.available': 50n * Mi });
  const observation = observed.observed.get('nodefs.available');
  if (observation === undefined) throw new Error('no observation');
  const reclaim = {
    threshold: threshold('nodefs.available', '100Mi'),
    observation,
    observations: observed,
    collections: ['containers', 'images'] as const,
    candidates: undefined,
  };
  expect(reclaimRecord({ kind: 'reclaim', reclaim })).toMatchObject({
    type: 'reclaim',
    signal: 'nodefs.available',
    collections: ['containers', 'images'],
    message: 'reclaiming containers, images: nodefs.available 50MiB < 100Mi (hard)',
  });
  expect(reclaimRecord({ kind: 'reclaimed', reclaim, enough: false, errors: ['images: EIO'] })).toMatchObject({
    type: 'reclaimed',
    enough: false,
    errors: ['images: EIO'],
    message: 'reclaiming containers, images for nodefs.available was not enough; images: EIO',
  });
  const yields = [{ collection: 'images', bytes: 20n * Mi, inodes: 300n }];
  expect(reclaimRecord({ kind: 'reclaimed', reclaim, enough: true, errors: [], yields })).toMatchObject({
    yields: [{ collection: 'images', freedBytes: Number(20n * Mi), freedInodes: 300 }],
    message: 'reclaiming containers, images for nodefs.available was enough, so no workload is evicted (images 20MiB)',
  });
  expect(alertRecord({ kind: 'alert', alert: 'no-yield', threshold: reclaim.threshold, observation })).toMatchObject({ alert: 'no-yield' });
  const budget = { max: 5, minPriority: 7, windowNs: 600n * SECOND, freeInNs: 90n * SECOND };
  expect(alertRecord({ kind: 'alert', alert: 'budget-exhausted', threshold: reclaim.threshold, observation, budget })).toMatchObject({
    budget: { max: 5, minPriority: 7, windowSeconds: 600, freeInSeconds: 90 },
  });
});

test('an alert names the workload that has grown', () => {
  const growers = [
    { kind: 'workload', name: 'db', protection: 'critical', grownBytes: 9n * Mi },
    { kind: 'cgroup', name: '/backup', grownBytes: 2n * Mi },
  ] as const;
  const observation = { available: 1n, capacity: Gi, timeNs: 0n, source: 'test' };
  const alert = { kind: 'alert', alert: 'budget-exhausted', threshold: threshold('memory.available', '10%'), observation } as const;
  expect(alertRecord({ ...alert, growth: { forNs: 3n * SECOND, growers } })).toMatchObject({
    growers: growers.map((grower) => ({ ...grower, grownBytes: Number(grower.grownBytes) })),
    grownForSeconds: 3,
    message: expect.stringMatching(/; in the last 3s db \(never evicted: critical\) grew by 9MiB, cgroup \/backup grew by 2MiB$/) as string,
  });
  expect(alertRecord({ ...alert, growth: { forNs: 3n * SECOND, growers: [] } })).not.toHaveProperty('growers');
  const swap = { workloads: [{ name: 'db', path: '/db', protection: 'critical', swapBytes: 7n }], otherBytes: 9n };
  expect(alertRecord({ ...alert, swap })).toMatchObject({ swapHolders: [{ ...swap.workloads[0], swapBytes: 7 }], swapOutsideBytes: 9 });
});

test('a start record has the evictions that continue, or the reason why the saved state was discarded', () => {
  const nothing = { reported: new Map(), conditions: [], evictions: [], pauses: new Map(), taints: [] };
  const start = { version: '1.0.0', dryRun: false, recovered: 0, crashes: 0, state: nothing, discarded: undefined };
  expect(startRecord(start)).toEqual({ type: 'start', version: '1.0.0', recovered: 0, message: 'evictd 1.0.0 starts' });
  expect(startRecord({ ...start, crashes: 1 })).toMatchObject({ crashes: 1, message: 'evictd 1.0.0 starts; the last run crashed' });
  expect(startRecord({ ...start, crashes: 3 }).message).toBe('evictd 1.0.0 starts; the last run crashed, as did the 2 before it');
  const limit = threshold('memory.available', '100Mi');
  const eviction = { ...inFlight({ ...decisionOf('memory.available', {}, {}), serial: 7, graceNs: SECOND }), usageBytes: 1n };
  const reported = new Map([[thresholdId(limit), { threshold: limit, timesMet: 1, clearSinceNs: undefined }]]);
  const pause = { reason: 'disk swap', beganBootNs: 0n, endsBootNs: SECOND, atNs: 0n };
  const pauses = new Map([['', pause]]);
  const taints = [{ key: 'disk', value: '', effect: 'NoExecute' }] as const;
  const state = { reported, conditions: ['MemoryPressure'] as const, evictions: [eviction], pauses, taints };
  expect(startRecord({ ...start, state, recovered: 2 })).toMatchObject({
    resumed: {
      thresholds: ['memory.available<100Mi'],
      conditions: ['MemoryPressure'],
      evictions: [{ decision: 7, victim: { name: 'batch' }, phase: 'terminating' }],
      pauses: [{ reason: 'disk swap' }],
      taints: ['disk:NoExecute'],
    },
    message:
      'evictd 1.0.0 starts; 2 records of the last run were still in the runtime directory; it continues memory.available<100Mi, MemoryPressure, the eviction of batch, the pause of evictions (disk swap), the taint disk:NoExecute',
  });
  expect(startRecord({ ...start, discarded: 'it is of another boot' })).toMatchObject({
    discarded: 'it is of another boot',
    message: 'evictd 1.0.0 starts; the saved state was discarded: it is of another boot',
  });
});

test('a decision of which only the record is left has an outcome', () => {
  const before = JSON.parse(JSON.stringify(decisionRecord(decisionOf('memory.available', {}, { workingSetBytes: 5n }), TICK))) as object;
  expect(unfinishedRecord({ ...before }, 'not saved')).toEqual({
    type: 'outcome',
    decision: 1,
    result: 'abandoned',
    signal: 'memory.available',
    victim: { name: 'batch', path: '/batch', id: 'id-batch' },
    expectedBytes: 5,
    freedBytes: 0,
    abandoned: 'evictd ended directly after the decision: no signal was sent, unless the state could not be saved',
    message:
      'eviction of batch abandoned: evictd ended directly after the decision: no signal was sent, unless the state could not be saved',
  });
  expect(unfinishedRecord({ ...before }, 'evictd ended').abandoned).toBe('evictd ended during the eviction, and its result is not known');
  expect(unfinishedRecord({ ...before }, 'another boot')).toMatchObject({
    result: 'lost',
    message: 'eviction of batch lost: the machine went down before it was over',
  });
});

test('a step that failed is a record with the error', () => {
  expect(error.record?.({ kind: 'error', message: 'why' }, { wake: TICK, timesOf: () => undefined })).toEqual({
    type: 'error',
    message: 'why',
  });
});

test('the compiler refuses a record with a bigint, at any depth: JSON.stringify throws', () => {
  // @ts-expect-error a bigint is no JSON
  const record: JournalRecord = { type: 'policy', message: 'freed 1 byte', steps: [{ freedBytes: 1n }] };
  expect(() => journalLine(record, { node: 'n', dryRun: false })).toThrow(TypeError);
});
