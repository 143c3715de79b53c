import { expect, onTestFinished, test, vi } from 'vitest';
import type { Effect } from '../../../src/core/decide/effect.js';
import { inFlight, type Decision, type VictimReading } from '../../../src/core/decide/eviction.js';
import { PodEvents } from '../../../src/features/kubernetes/reports/pod-events.js';
import { noSignalSent, type SentSignal } from '../../../src/monitor/ports/sent-signals.js';
import { threshold } from '../../core/support.js';
import { eventually } from '../../support/eventually.js';
import { outcome } from '../notify/evictions.js';
import { cluster, type Cluster } from './cluster.js';
import { eviction, PART, softEviction } from './pod.js';

function podEvents(at: Cluster, restored?: ConstructorParameters<typeof PodEvents>[1]) {
  const log: string[] = [];
  const warn = (line: string): number => log.push(line);
  const events = new PodEvents({ ask: at.ask, nodeName: 'node-1', log: { warn }, pauseMs: () => 5 }, restored);
  onTestFinished(() => {
    events.close();
  });
  return { events, log };
}

const FAILED = { kind: 'outcome', outcome: { ...outcome(eviction(), 'failed'), error: 'refused' } } as const;

/** What a step has read of the victim. Left out: there is none. */
function reads(reading?: Partial<VictimReading>) {
  const nothing = { processes: 1, usageBytes: 0n, removed: false, vanished: false, error: undefined, signalledAtNs: undefined };
  return { victims: new Map(reading === undefined ? [] : [[eviction().serial, { ...nothing, ...reading }]]) };
}

/** The reasons of its events, in order. */
async function publishedBy(events: PodEvents, at: Cluster): Promise<unknown[]> {
  events.add({ regarding: { kind: 'Node', name: 'node-1' }, type: 'Normal', reason: 'Last', action: 'Last', note: 'x' });
  const published = () => at.server.store.list('events').map(({ reason }) => reason);
  await eventually('the last one is sent', () => published().includes('Last'));
  return published().filter((reason) => reason !== 'Last');
}

const WAITS = { signalledAtNs: 1n, unanswered: true } as const;
const GOES_ON = { signalledAtNs: 1n };

test.each<[rule: string, readings: readonly Partial<VictimReading>[], over: readonly Effect[], reasons: readonly string[]]>([
  ['is published with the signal, and once', [{}, GOES_ON, GOES_ON], [], ['Evicted']],
  ['is published when the API server has accepted it', [WAITS, WAITS, GOES_ON], [], ['Evicted']],
  ['is not published before', [{}, WAITS, WAITS], [], []],
  ['that a budget refuses was none', [WAITS, { ...GOES_ON, error: 'its budget', refused: true }], [FAILED], ['EvictionFailed']],
  ['whose signal is refused was none', [{}, { error: 'it is protected' }], [FAILED], ['EvictionFailed']],
  ['that has failed after its signal was one', [GOES_ON, GOES_ON], [FAILED], ['Evicted', 'EvictionFailed']],
  ['of which some processes got the signal is published', [{ ...GOES_ON, error: 'EPERM', passing: 'in part' }], [], ['Evicted']],
])('an eviction %s', async (_rule, readings, over, reasons) => {
  const at = await cluster();
  const { events } = podEvents(at);
  events.stepped({ effects: [{ kind: 'evict', decision: eviction() }], input: reads() });
  for (const reading of readings.slice(0, -1)) events.stepped({ effects: [], input: reads(reading) });
  events.stepped({ effects: over, input: reads(readings.at(-1)) });
  expect(await publishedBy(events, at)).toEqual(reasons);
});

test.each<
  [
    rule: string,
    decision: Decision,
    sent: SentSignal | undefined,
    why: string | undefined,
    readings: readonly Partial<VictimReading>[],
    reasons: readonly string[],
  ]
>([
  ['is published with the signal, and once', eviction(), undefined, undefined, [{}, GOES_ON, GOES_ON], ['Evicted']],
  ['is published when the API server has accepted it', softEviction(), 'signalNs', undefined, [WAITS, GOES_ON], ['Evicted']],
  ['is not published before', softEviction(), 'signalNs', undefined, [WAITS], []],
  ['that was signalled before is not published again', eviction(), 'killNs', undefined, [GOES_ON], []],
  ['that got SIGTERM before is not published again', eviction(), 'signalNs', undefined, [GOES_ON], []],
  ['that does not go on is not published', softEviction(), 'signalNs', 'it is protected', [GOES_ON], []],
])('an eviction in flight at the start of evictd %s', async (_rule, decision, sent, why, readings, reasons) => {
  const at = await cluster();
  const { serial } = decision;
  const signals = new Map([[serial, { ...noSignalSent({ crossingNs: 0n, wakeNs: 0n, decisionNs: 0n }), sent }]]);
  const abandoned = new Map(why === undefined ? [] : [[serial, why]]);
  const { events } = podEvents(at, { state: { evictions: [inFlight(decision)] }, signals, abandoned });
  for (const reading of readings) events.stepped({ effects: [], input: reads(reading) });
  expect(await publishedBy(events, at)).toEqual(reasons);
});

test('an eviction is an event in the namespace of its pod, a threshold is one of the node, and repetitions are one series', async () => {
  const at = await cluster();
  const { events } = podEvents(at);
  const hard = threshold('memory.available', '100Mi');
  const observation = { available: 1n, capacity: 2n, timeNs: undefined, source: 'test' };
  const attempt = { kind: 'attempt', resource: 'memory', threshold: hard, observation } as const;
  events.stepped({ effects: [attempt, { kind: 'evict', decision: eviction() }, attempt], input: reads() });
  events.stepped({ effects: [], input: reads({ signalledAtNs: 1n }) });
  events.stepped({ effects: [FAILED], input: reads({ signalledAtNs: 1n, error: 'refused' }) });
  await eventually('they are sent', () => at.server.store.list('events').length === 3);
  const [ofNode, evicted, failed] = at.server.store.list('events');
  expect(ofNode).toMatchObject({
    metadata: { namespace: 'default' },
    reason: 'EvictionThresholdMet',
    note: 'Attempting to reclaim memory',
  });
  expect(evicted).toMatchObject({
    metadata: { namespace: 'shop', name: expect.stringMatching(/^web\.[0-9a-f]+$/) as string },
    eventTime: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/) as string,
    reportingController: 'evictd.dev/evictd',
    reportingInstance: 'node-1',
    regarding: { apiVersion: 'v1', kind: 'Pod', namespace: 'shop', name: 'web', uid: 'u-1' },
    ...{ type: 'Warning', reason: 'Evicted', action: 'Evict', note: expect.stringContaining('memory.available 12MiB < 100Mi') as string },
  });
  expect(failed).toMatchObject({ reason: 'EvictionFailed', note: expect.stringContaining('refused') as string });
});

test("a kubelet's credential may create and continue events in the core group only, and that is found out once", async () => {
  const at = await cluster({ token: 'kubelet-token' });
  const { events, log } = podEvents(at);
  const { namespace, name, uid } = PART;
  const event = {
    regarding: { kind: 'Pod', namespace, name, uid },
    type: 'Warning',
    reason: 'Evicted',
    action: 'Evict',
    note: 'x',
  } as const;
  events.add(event);
  await eventually('it is sent', () => at.server.store.list('events').length === 1);
  expect(at.server.store.list('events')).toMatchObject([
    {
      apiVersion: 'v1',
      involvedObject: { apiVersion: 'v1', kind: 'Pod', namespace: 'shop', name: 'web', uid: 'u-1' },
      ...{ reportingComponent: 'evictd.dev/evictd', reportingInstance: 'node-1', message: 'x', reason: 'Evicted', action: 'Evict' },
      source: { component: 'evictd.dev/evictd', host: 'node-1' },
    },
  ]);
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 61_000 });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  events.add(event);
  await eventually('its series is sent', () => at.server.store.list('events')[0]?.series !== undefined);
  expect(at.server.store.list('events')[0]?.series).toMatchObject({ count: 2 });
  expect(at.server.received.map(({ method, path }) => `${method} ${path.split('/shop')[0] ?? ''}`)).toEqual([
    'POST /apis/events.k8s.io/v1/namespaces',
    'POST /api/v1/namespaces',
    'PATCH /api/v1/namespaces',
  ]);
  expect(log).toEqual([]);
});

test('a credential without a permission for events is logged once, and once more after it was granted and taken away', async () => {
  const at = await cluster();
  const { events, log } = podEvents(at);
  const add = async (uid: string, requests: number): Promise<void> => {
    at.server.received.length = 0;
    const regarding = { kind: 'Pod', namespace: 'shop', name: 'web', uid } as const;
    events.add({ regarding, type: 'Warning', reason: 'Evicted', action: 'Evict', note: 'x' });
    await eventually('it is answered', () => at.server.received.length === requests);
  };
  at.server.authorise = () => false;
  await add('a', 2);
  await add('b', 2);
  await eventually('it is logged', () => log.length > 0);
  at.server.authorise = () => true;
  await add('c', 1);
  at.server.authorise = () => false;
  await add('d', 2);
  await eventually('it is logged again', () => log.length > 1);
  const line = expect.stringMatching(/^the API server refuses events, and they are lost: it answers 403: events is forbidden/) as string;
  expect(log).toEqual([line, line]);
});
