import type { ExhaustedBudget } from '../../../src/core/budget/eviction-budget.js';
import { describe, expect, test } from 'vitest';
import { departuresOf } from '../../../src/core/decide/departures.js';
import type { AlertKind } from '../../../src/core/decide/effect.js';
import type { Decision, Outcome } from '../../../src/core/decide/eviction.js';
import type { StorageLimitCause } from '../../../src/core/rank/eviction-cause.js';
import type { ThresholdCause } from '../../../src/core/threshold/threshold-cause.js';
import { alertMessage, decisionMessage, outcomeMessage, thresholdMessage } from '../../../src/core/message/message.js';
import { parseQuantity } from '../../../src/core/quantity/quantity.js';
import { rank } from '../../../src/core/rank/rank.js';
import { SIGNAL_FACTS, type ResourceSignal } from '../../../src/core/signal/signal.js';
import type { StorageBreach } from '../../../src/core/disk/storage-limit.js';
import type { WorkloadUsage } from '../../../src/core/workload/workload.js';
import { observations, threshold, SECOND } from '../support.js';
import { machine, pod } from '../usage.js';

const Mi = 1024n * 1024n;
const batch = machine('batch', 200n * Mi, { priority: -10 });

function below(signal: ResourceSignal, limit: string, available: bigint): ThresholdCause {
  const threshold = {
    signal,
    value: { kind: 'quantity', quantity: parseQuantity(limit) },
    gracePeriodNs: 0n,
    minReclaim: undefined,
  } as const;
  const observation = { available, capacity: 1024n * Mi, timeNs: undefined, source: 'test' };
  return { kind: 'threshold', threshold, observation, limit: 0n };
}

function decision(cause: ThresholdCause | StorageLimitCause, usage: WorkloadUsage = batch, overrides: Partial<Decision> = {}): Decision {
  const signal = cause.kind === 'threshold' ? cause.threshold.signal : 'nodefs.available';
  const ranking = rank(signal, 'single', [usage], departuresOf('evictd'));
  const [victim] = ranking;
  if (victim === undefined) throw new Error('no workload was ranked');
  const { resource } = SIGNAL_FACTS[signal];
  return { serial: 1, resource, cause, victim, graceNs: 0n, ranking, unreadable: [], decidedAtNs: 0n, dryRun: false, ...overrides };
}

const memory = below('memory.available', '100Mi', 12n * Mi);
const inodes = below('nodefs.inodesFree', '1k', 900n);

test.each<[decision: Decision, words: string]>([
  [decision(memory), 'evicting batch with SIGKILL: memory.available 12MiB < 100Mi (hard); batch uses 200MiB, has no request, priority -10'],
  [
    decision(memory, batch, { graceNs: 10_000_000_000n, dryRun: true }),
    'dry run: would evict batch with SIGTERM, SIGKILL after 10s: memory.available 12MiB < 100Mi (hard); ' +
      'batch uses 200MiB, has no request, priority -10',
  ],
  [
    decision(inodes, pod('p', { stats: null })),
    'evicting p with SIGKILL: nodefs.inodesFree 900 inodes < 1k (hard); p uses an unknown amount, has no request, priority 0',
  ],
])('the message of a decision: %#', (given, words) => {
  expect(decisionMessage(given)).toBe(words);
});

test.each<[breach: StorageBreach, words: string]>([
  [{ kind: 'emptyDir', volume: 'cache', limit: parseQuantity('1Gi') }, 'its emptyDir volume cache is over its limit of 1Gi'],
  [{ kind: 'pod', limit: parseQuantity('2Gi') }, 'its local storage is over the limit of 2Gi for all its containers'],
  [{ kind: 'container', container: 'app', limit: parseQuantity('1Gi') }, 'the local storage of its container app is over its limit of 1Gi'],
])('the message of a decision for a workload over its own limit: %#', (breach, why) => {
  expect(decisionMessage(decision({ kind: 'storage-limit', breach }, pod('p')))).toBe(
    `evicting p with SIGKILL: ${why}; p uses 0B, has no request, priority 0`,
  );
});

describe('the message of an outcome', () => {
  function outcome(overrides: Partial<Outcome> = {}): Outcome {
    return {
      result: 'killed',
      decision: decision(memory),
      counted: true,
      atNs: 0n,
      expectedBytes: 200n * Mi,
      freedBytes: 198n * Mi,
      removed: false,
      processesLeft: 0,
      error: undefined,
      nodeAfter: { available: 210n * Mi, capacity: 1024n * Mi, timeNs: undefined, source: 'test' },
      ...overrides,
    };
  }

  const plain = decision(memory);
  const unit = { name: 'batch.service', manager: 'system' } as const;
  const ofUnit = { ...plain, victim: { ...plain.victim, workload: { ...plain.victim.workload, unit } } };
  const overLimit = decision({ kind: 'storage-limit', breach: { kind: 'pod', limit: parseQuantity('1Gi') } }, pod('p'));

  test.each<[outcome: Outcome, words: string]>([
    [outcome(), 'evicted batch: freed 198MiB; memory.available 12MiB → 210MiB'],
    [outcome({ nodeAfter: undefined }), 'evicted batch: freed 198MiB'],
    [
      outcome({ decision: decision(inodes), nodeAfter: { available: 950n, capacity: 1000n, timeNs: undefined, source: 'test' } }),
      'evicted batch; nodefs.inodesFree 900 inodes → 950 inodes',
    ],
    [outcome({ decision: overLimit }), 'evicted p'],
    [
      outcome({ result: 'ineffective', freedBytes: Mi }),
      'evicted batch: freed only 1MiB of the 200MiB that it used; memory.available 12MiB → 210MiB',
    ],
    [
      outcome({ result: 'ineffective', freedBytes: Mi, nodeFreedBytes: Mi, notFreed: 'stays', nodeAfter: undefined }),
      'evicted batch: the node got back only 1MiB of 200MiB: memory stays that outlives its processes, such as files on a tmpfs',
    ],
    [
      outcome({ result: 'ineffective', nodeFreedBytes: -Mi, notFreed: 'taken', nodeAfter: undefined }),
      'evicted batch: it freed 198MiB, and the node got back only 0B: the rest is in use again',
    ],
    [
      outcome({ result: 'ineffective', expectedBytes: 0n, freedBytes: 0n, nodeFreedBytes: -Mi, notFreed: 'taken', nodeAfter: undefined }),
      'evicted batch: it used no memory that its end frees',
    ],
    [outcome({ result: 'ineffective', nodeFreedBytes: Mi, nodeAfter: undefined }), 'evicted batch: the node got back only 1MiB of 200MiB'],
    [outcome({ result: 'failed', processesLeft: 3 }), 'could not evict batch: 3 processes left after the kill'],
    [outcome({ result: 'failed', processesLeft: 1 }), 'could not evict batch: 1 process left after the kill'],
    [outcome({ result: 'failed', processesLeft: undefined }), 'could not evict batch: an unknown number of processes left after the kill'],
    [
      outcome({ nodeAfter: undefined, later: { pid: 4711, name: 'rm' } }),
      'evicted batch: freed 198MiB; its processes ended; its cgroup has a new one, 4711 (rm)',
    ],
    [
      outcome({ nodeAfter: undefined, later: { pid: 4711, name: 'rm' }, decision: ofUnit }),
      'evicted batch: freed 198MiB; its processes ended; systemd still runs 4711 (rm) in its cgroup',
    ],
    [outcome({ result: 'failed', error: 'EACCES' }), 'could not evict batch: EACCES'],
    [outcome({ result: 'vanished' }), 'batch ended before it was evicted; memory.available 12MiB → 210MiB'],
  ])('has the result and the freed amount: %#', (given, words) => {
    expect(outcomeMessage(given)).toBe(words);
  });
});

test.each<[alert: AlertKind, words: string]>([
  ['signal-not-evictable', 'evicting workloads does not free inodes, so none is evicted'],
  ['safe-mode', 'nothing is evicted, because evictd is in safe mode after several crashes'],
  ['no-workload-source', 'nothing is evicted, because no workload source is configured'],
  ['nothing-evictable', 'no evictable workload would free anything there'],
  [
    'no-yield',
    'the last eviction freed too little; evictd evicts nothing more until the shortage eases, or a workload that would free enough has grown',
  ],
])('the message of an alert: %s', (alert, words) => {
  expect(alertMessage({ ...inodes, alert })).toBe(`nodefs.inodesFree 900 inodes < 1k (hard): ${words}`);
});

test.each<[rule: string, budget: ExhaustedBudget, words: string]>([
  [
    'the whole',
    { max: 5, windowNs: 600n * SECOND, freeInNs: 60n * SECOND + 1n },
    'the eviction budget is used up: 5 evictions in 10m0s; evictd evicts nothing more for 1m1s',
  ],
  [
    'a band',
    { max: 1, minPriority: 1000, windowNs: 60n * SECOND, freeInNs: SECOND },
    'the eviction budget is used up: 1 eviction of workloads with priority 1000 or more in 1m0s; evictd evicts none of these for 1s',
  ],
  ['none', { max: 0, windowNs: SECOND }, 'evictionBudget permits no eviction'],
])('the message of a used-up budget: %s', (_rule, budget, words) => {
  expect(alertMessage({ ...inodes, alert: 'budget-exhausted', budget })).toBe(`nodefs.inodesFree 900 inodes < 1k (hard): ${words}`);
});

test.each<[rule: string, availableMi: bigint | undefined, words: string]>([
  ['exactly the limit is not below it', 512n, 'memory.available is back above 50% (soft): 512MiB available'],
  ['a reload took it away', 511n, 'memory.available no longer has the threshold 50% (soft): 511MiB available'],
  ['there is no reading', undefined, 'memory.available cannot be read any more; it is not known whether it is below 50% (soft)'],
])('the message of the end of an episode: %s', (_rule, availableMi, words) => {
  const ended = threshold('memory.available', '50%', { graceSeconds: 30 });
  const observed = availableMi === undefined ? undefined : observations(0n, { 'memory.available': availableMi * Mi }).observed;
  expect(thresholdMessage({ kind: 'threshold', threshold: ended, met: false, observation: observed?.get('memory.available') })).toBe(words);
});
