import { expect, test } from 'vitest';
import { NO_EVENTS, nextEvent, type ClusterEvent, type EventState } from '../../../src/core/kubernetes/event-series.js';

const EVENT: ClusterEvent = {
  regarding: { kind: 'Pod', namespace: 'shop', name: 'web', uid: 'u' },
  ...{ type: 'Warning', reason: 'Evicted', action: 'Evict', note: 'x'.repeat(2_000) },
};

/** The calls for events at these times, in milliseconds. */
function calls(
  times: readonly number[],
  eventAt: (at: number) => ClusterEvent = () => EVENT,
): { state: EventState; calls: (object | undefined)[] } {
  let state = NO_EVENTS;
  const made = times.map((ms, at) => {
    const next = nextEvent(state, eventAt(at), { instance: 'n'.repeat(200), run: 'a' }, { ms, text: `T${String(ms)}` });
    ({ state } = next);
    return next.call;
  });
  return { state, calls: made };
}

test('a repetition counts in the series, which is updated once a minute and ends after six', () => {
  const { calls: made } = calls([1_000, 2_000, 61_000, 421_001]);
  expect(made[0]).toMatchObject({ method: 'POST', body: { eventTime: 'T1000', metadata: { name: 'web.a0000', namespace: 'shop' } } });
  expect(made[1]).toBeUndefined();
  expect(made[2]).toMatchObject({ method: 'PATCH', body: { series: { count: 3, lastObservedTime: 'T61000' } } });
  expect(made[2]).toHaveProperty('path', '/apis/events.k8s.io/v1/namespaces/shop/events/web.a0000');
  expect(made[3]).toMatchObject({ method: 'POST' });
});

test.each<[text: string, note: number, instance: number]>([
  ['x', 1_024, 128],
  ['é', 512, 64],
  ['€', 341, 42],
  ['😀', 256, 32],
])('a note and an instance of %s have as many whole characters as the server permits: it counts bytes', (text, note, instance) => {
  const all = text.repeat(2_000);
  const { call } = nextEvent(NO_EVENTS, { ...EVENT, note: all }, { instance: all, run: 'a' }, { ms: 0, text: 'T' });
  expect(call?.body).toMatchObject({ note: text.repeat(note), reportingInstance: text.repeat(instance) });
});

test('an event of a node has the name of the node as uid, so that kubectl describe node finds it', () => {
  const { call } = nextEvent(
    NO_EVENTS,
    { ...EVENT, regarding: { kind: 'Node', name: 'a' } },
    { instance: 'a', run: 'a' },
    { ms: 0, text: 'T' },
  );
  expect(call?.body).toMatchObject({
    metadata: { namespace: 'default' },
    regarding: { apiVersion: 'v1', kind: 'Node', name: 'a', uid: 'a' },
  });
});

test('after a step back of the wall clock by a day new events are created, and series are updated', () => {
  const DAY = 86_400_000;
  const eventAt = (at: number): ClusterEvent => ({ ...EVENT, regarding: { ...EVENT.regarding, uid: String(at % 2) } });
  expect(calls([2 * DAY, DAY], eventAt).calls[1]).toMatchObject({ method: 'POST' });
  expect(calls([2 * DAY, DAY]).calls[1]).toMatchObject({ method: 'POST' });
  expect(calls([2 * DAY, 2 * DAY - 60_000]).calls[1]).toMatchObject({ method: 'PATCH' });
});

test('an event source may send 20 events at once, then ten a minute', () => {
  const eventAt = (at: number): ClusterEvent => ({ ...EVENT, regarding: { ...EVENT.regarding, uid: String(at) } });
  const { calls: made, state } = calls([...Array.from({ length: 25 }, () => 1_000_000), 1_006_000, 1_006_000], eventAt);
  expect(made.map((call) => call !== undefined)).toEqual([
    ...Array.from({ length: 20 }, () => true),
    ...Array.from({ length: 5 }, () => false),
    true,
    false,
  ]);
  expect(state.dropped).toBe(6);
});
