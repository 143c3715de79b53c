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

test('a note and an instance are as long as the server permits', () => {
  const { note, reportingInstance } = (calls([0]).calls[0] as { body: { note: string; reportingInstance: string } }).body;
  expect([note.length, reportingInstance.length]).toEqual([1_024, 128]);
});

test('20 at once, then ten a minute', () => {
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
