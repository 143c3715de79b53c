import { expect, test } from 'vitest';
import { openApiPodEvictor } from '../../../src/evict/kubernetes/api-pod-evictor.js';
import { Victims } from '../../../src/monitor/victims.js';
import type { PodEvictionAnswer, PodEvictions } from '../../../src/monitor/ports/node-pods.js';
import type { Evictor, KillInProgress } from '../../../src/monitor/ports/ports.js';
import { SECOND, workload } from '../../core/support.js';
import { disruption, eviction, PART, softEviction } from '../../features/kubernetes/pod.js';

const POD = workload('shop/web', { kubernetes: PART });

/** What happens to a pod, in order. */
function pod(answer: PodEvictionAnswer, later = answer) {
  const events: string[] = [];
  const note = (what: string) => () => {
    events.push(what);
    return { atNs: process.hrtime.bigint(), processes: 1, error: undefined };
  };
  const kill: KillInProgress = {
    ...{ terminate: note('SIGTERM'), kill: note('SIGKILL'), resume: (isKilled) => void note(`resume ${String(isKilled)}`)() },
    ...{ read: () => ({ processes: 1, usageBytes: 1n, removed: false }), onExit: () => undefined, close: () => undefined },
  };
  const evictions: PodEvictions = {
    request: ({ graceNs, isResumed }) => {
      note(`asked ${String(graceNs / SECOND)} ${String(isResumed)}`)();
      const answers = [answer];
      return () => answers.pop() ?? later;
    },
    endItself: (_pod, send) => {
      note('intended')();
      note(`sent: ${String(send())}`)();
    },
  };
  const others: Evictor = { begin: () => kill };
  return { events, evictor: openApiPodEvictor(others, evictions) };
}

const begin = ({ evictor }: ReturnType<typeof pod>, graceNs: bigint, { cause } = softEviction()): KillInProgress =>
  evictor.begin(POD, undefined, graceNs, false, undefined, cause);

test('at a hard threshold evictd signals the pod, whatever the grace period, and calls no API', () => {
  const killed = pod('accepted');
  begin(killed, 0n, eviction()).kill();
  begin(killed, 30n * SECOND, eviction()).terminate();
  expect(killed.events).toEqual(['SIGKILL', 'SIGTERM']);
});

test('for any other reason the API server is asked, however short the grace period is', () => {
  const asked = pod('accepted');
  begin(asked, SECOND).terminate();
  begin(asked, SECOND, disruption('taint')).terminate();
  expect(asked.events).toEqual(['asked 1 false', 'asked 1 false']);
});

test.each<[when: string, answer: PodEvictionAnswer, unanswered: true | undefined]>([
  ['before the request is sent', 'unsent', true],
  ['while there is no answer', { sentNs: process.hrtime.bigint() + 3_600n * SECOND }, true],
  ['with an answer', 'accepted', undefined],
])('the grace period begins with the answer of the API server: %s', (_when, answer, unanswered) => {
  const it = pod(answer);
  const kill = begin(it, SECOND);
  kill.terminate();
  expect(kill.read().unanswered).toBe(unanswered);
});

test('after the API server has accepted, evictd sends only SIGKILL, at the end of the grace period', () => {
  const accepted = pod('accepted');
  const kill = begin(accepted, 30n * SECOND);
  kill.terminate();
  kill.read();
  kill.kill();
  expect(accepted.events).toEqual(['asked 30 false', 'SIGKILL']);
});

test('with an API server that is known to be away evictd sends SIGTERM at once, and not again', () => {
  const away = pod('unanswered');
  const kill = begin(away, 30n * SECOND);
  kill.terminate();
  kill.read();
  kill.read();
  expect(away.events).toEqual(['asked 30 false', 'intended', 'SIGTERM', 'sent: true']);
});

test.each<[PodEvictionAnswer]>([['unanswered'], [{ sentNs: process.hrtime.bigint() - 4n * SECOND }]])(
  'without a usable answer evictd sends SIGTERM, after the deletion is pending',
  (given) => {
    const unanswered = pod('unsent', given);
    const kill = begin(unanswered, 30n * SECOND);
    kill.terminate();
    kill.read();
    kill.read();
    expect(unanswered.events).toEqual(['asked 30 false', 'intended', 'SIGTERM', 'sent: true']);
  },
);

test('after a restart the eviction is requested again, unless the pod was killed', () => {
  const resumed = pod('accepted');
  begin(resumed, 30n * SECOND).resume?.(false);
  begin(resumed, 30n * SECOND).resume?.(true);
  expect(resumed.events).toEqual(['asked 30 true', 'resume false', 'resume true']);
});

test.each<[rule: string, answer: { readonly refused: string; readonly isUnanswered?: true }, unanswered: true | undefined]>([
  ['a budget that refuses', { refused: 'its disruption budget does not permit it now' }, undefined],
  ['an API server without the answer that is needed', { refused: 'the API server does not answer', isUnanswered: true }, true],
])('%s makes the eviction fail for now, with the reason', (_rule, answer, unanswered) => {
  const refused = pod(answer);
  const victims = new Victims(refused.evictor, () => undefined);
  const decision = softEviction();
  victims.begin(decision, { atNs: 0n });
  const reading = victims.readings().get(decision.serial);
  expect(reading).toMatchObject({ processes: 1, error: answer.refused, refused: true });
  expect(reading?.unanswered).toBe(unanswered);
  expect(refused.events).toEqual(['asked 30 false']);
});
