import { describe, expect, test, vi } from 'vitest';
import { initialState } from '../../../src/core/decide/state.js';
import { parseTaint } from '../../../src/core/disruption/taint.js';
import { postTaint } from '../../../src/features/request/taint-answer.js';
import { postPause, pauseRequestOf, postResume, type PauseParts } from '../../../src/features/request/pause-answer.js';
import type { OperatorPause } from '../../../src/core/pause/operator-pause.js';
import { candidates, SECOND, workload } from '../../core/support.js';

const MINUTE = 60n * SECOND;
const found = () =>
  candidates([workload('db', { path: '/a/db' }), 1n], [workload('web', { path: '/a/web' }), 1n], [workload('web', { path: '/b/web' }), 1n]);
const body = (request: object): string => JSON.stringify({ for: '30m', reason: 'test', ...request });
const read = (text: string, maxNs = 240n * MINUTE) => pauseRequestOf(text, maxNs, found);

describe('a request for a pause', () => {
  test.each<[rule: string, text: string, request: object]>([
    ['pauses everything', body({}), { forNs: 30n * MINUTE, reason: 'test' }],
    ['is as long as permitted', body({ for: '4h' }), { forNs: 240n * MINUTE }],
    ['names the workload', body({ workload: 'db' }), { workload: { name: 'db', path: '/a/db' } }],
    ['has the path of the workload', body({ workload: '/b/web' }), { workload: { name: 'web', path: '/b/web' } }],
  ])('%s', (_rule, text, request) => {
    expect(read(text)).toMatchObject(request);
  });

  test.each<[rule: string, text: string, code: string]>([
    ['text that is not JSON', '', 'EVICTD_PAUSE_REQUEST'],
    ['JSON that is not an object', '[]', 'EVICTD_PAUSE_REQUEST'],
    ['a missing reason', '{"for":"1m"}', 'EVICTD_PAUSE_REQUEST'],
    ['an empty reason', body({ reason: ' ' }), 'EVICTD_PAUSE_REQUEST'],
    ['a long reason', body({ reason: 'x'.repeat(501) }), 'EVICTD_PAUSE_REQUEST'],
    ['a workload that is not text', body({ workload: 1 }), 'EVICTD_PAUSE_REQUEST'],
    ['an unknown field: a misspelt workload must not pause everything', body({ workloads: 'db' }), 'EVICTD_PAUSE_REQUEST'],
    ['a missing length', body({ for: 'long' }), 'EVICTD_PAUSE_LENGTH'],
    ['a length of 0', body({ for: '0s' }), 'EVICTD_PAUSE_LENGTH'],
    ['longer than permitted', body({ for: '4h0m1s' }), 'EVICTD_PAUSE_LENGTH'],
    ['an unknown workload', body({ workload: 'batch' }), 'EVICTD_PAUSE_WORKLOAD'],
    ['several of this name', body({ workload: 'web' }), 'EVICTD_PAUSE_WORKLOAD'],
  ])('is refused: %s', (_rule, text, code) => {
    expect(() => read(text)).toThrow(expect.objectContaining({ code }));
  });

  test.each([
    ['5d', 'write hours, minutes and seconds: 30m, 1h30m'],
    ['0s', 'more than 0s, and at most pause.max: 4h0m0s'],
  ])('with a length of %s has a hint with accepted lengths', (length, hint) => {
    expect(() => read(body({ for: length }))).toThrow(expect.objectContaining({ hint }));
  });

  test('is refused if no pause is permitted', () => {
    expect(() => read(body({}), 0n)).toThrow(/no pause is permitted/);
  });
});

function parts(isMade: boolean): PauseParts & { readonly ask: ReturnType<typeof vi.fn> } {
  const ask = vi.fn(() => isMade);
  const status = {
    pauses: [{ reason: 'test', endSeconds: 60, endsAt: '1970-01-01T00:01:00.000Z', endsLocal: '1970-01-01 01:01:00+01:00' }],
  };
  return { maxNs: () => MINUTE, candidates: found, monitor: { ask, remaining: initialState }, endSafeMode: () => false, status, ask };
}

test('pauses of workloads have limited room in the saved state, but one of everything and a replacement always fit', () => {
  const reason = '重'.repeat(500);
  const all = Array.from({ length: 80 }, (_, at) => [workload(`w-${String(at)}`, { path: `/w-${String(at)}` }), 1n] as const);
  const pauses = new Map<string, OperatorPause>();
  const running: PauseParts = {
    ...parts(true),
    candidates: () => candidates(...all.map(([one, usage]) => [one, usage] as [typeof one, bigint])),
    monitor: {
      remaining: { ...initialState, pauses },
      ask: ({ pause }) => {
        if (pause) pauses.set(pause.workload?.path ?? '', { ...pause, beganBootNs: 0n, endsBootNs: pause.forNs, atNs: 0n });
        return true;
      },
    },
  };
  const pause = (workload?: string, why = reason): void => void postPause({ body: body({ for: '1m', reason: why, workload }) }, running);
  for (let at = 0; at < 9; at++) pause(`w-${String(at)}`);
  expect(() => {
    pause('w-9');
  }).toThrow(expect.objectContaining({ code: 'EVICTD_PAUSE_ROOM' }));
  pause('w-8');
  pause();
  pause('w-10', 'short');
  expect(pauses.size).toBe(11);
});

test('the answer says what is paused, and until when', () => {
  const running = parts(true);
  expect(postPause({ body: body({ for: '1m' }) }, running).json).toEqual({
    message: 'an operator has paused evictions until 1970-01-01 01:01:00+01:00: test',
    pauses: [{ reason: 'test', workload: null, endsAt: '1970-01-01T00:01:00.000Z' }],
  });
  expect(running.ask).toHaveBeenCalledWith({ source: 'pause', pause: { forNs: MINUTE, reason: 'test' } });
  expect(postResume({ by: 'uid 0, process 7 (curl)' }, running).json).toMatchObject({
    message: 'uid 0, process 7 (curl) resumed evictions: nothing was paused',
  });
  expect(running.ask).toHaveBeenLastCalledWith({ source: 'resume', by: 'uid 0, process 7 (curl)' });
  expect(postResume({}, { ...running, endSafeMode: () => true }).json).toMatchObject({
    message: 'an operator resumed evictions: nothing was paused; the safe mode is over',
  });
});

test('an evictd that stops refuses pause and resume', () => {
  expect(() => postPause({ body: body({ for: '1m' }) }, parts(false))).toThrow(/stopping/);
  expect(() => postResume({}, parts(false))).toThrow(/stopping/);
});

describe('a request for taints', () => {
  const known = ['gpu=yes:NoSchedule', 'gpu=yes:NoExecute', 'noisy:PreferNoSchedule'].map(parseTaint);
  const changed = (...taints: readonly unknown[]) => changedBy(false, ...taints);
  const changedBy = (dryRun: boolean, ...taints: readonly unknown[]) => {
    const ask = vi.fn(() => true);
    const monitor = { ask, remaining: { ...initialState, taints: known } };
    const configured = () => [parseTaint('rack=1:NoSchedule')];
    const { json } = postTaint(
      { body: JSON.stringify({ taints }) },
      { configured, dryRun, monitor, status: { taints: [], taintEvictions: [] } },
    );
    return { ask, message: (json as { readonly message: string }).message };
  };

  test('sets and removes taints at once', () => {
    const { ask, message } = changed('disk=slow:NoExecute', 'gpu-', 'noisy:PreferNoSchedule-');
    const request = { kind: 'taint', set: [parseTaint('disk=slow:NoExecute')], remove: known };
    expect(ask.mock.calls).toEqual([[{ source: 'request', request }]]);
    expect(message).toBe('set disk=slow:NoExecute; removed gpu=yes:NoSchedule; removed gpu=yes:NoExecute; removed noisy:PreferNoSchedule');
    expect(changedBy(true, 'gpu-').message).toMatch(/; evictd makes a dry run: it ends nothing, and evictd admit does not ask it$/);
    expect(changed('gpu=yes:NoSchedule-').ask.mock.calls).toMatchObject([[{ request: { set: [], remove: [known[0]] } }]]);
  });

  test.each<[rule: string, taints: readonly unknown[], code: string]>([
    ['nothing', [], 'REQUEST'],
    ['a taint that is not text', [1], 'REQUEST'],
    ['no taints', ['disk'], 'REQUEST'],
    ['an unknown effect', ['disk:Evict'], 'REQUEST'],
    ['a malformed key', ['a b-'], 'REQUEST'],
    [
      'more taints than there is room for',
      Array.from({ length: 25 }, (_, at) => `${'k'.repeat(253)}/a-${String(at)}=${'v'.repeat(63)}:NoExecute`),
      'REQUEST',
    ],
    ['one taint twice', ['disk=a:NoExecute', 'disk=b:NoExecute'], 'REQUEST'],
    ['a taint that is both set and removed', ['gpu=no:NoExecute', 'gpu-'], 'REQUEST'],
    ['more taints than fit', Array.from({ length: 62 }, (_, index) => `a${String(index)}:NoSchedule`), 'REQUEST'],
    ['the removal of a taint that is not set', ['disk=a:NoExecute', 'disks-'], 'ABSENT'],
    ['the removal of a taint with another effect', ['noisy:NoExecute-'], 'ABSENT'],
    ['a taint of the configuration', ['rack=2:NoSchedule'], 'CONFIGURED'],
    ['the removal of a taint of the configuration', ['rack-'], 'CONFIGURED'],
    ['a taint for a node condition', ['node.kubernetes.io/memory-pressure:NoSchedule'], 'CONDITION'],
    ['the removal of a taint for a node condition', ['node.kubernetes.io/memory-pressure:NoSchedule-'], 'CONDITION'],
    ['the removal of that of a cordoned node, by its key', ['node.kubernetes.io/unschedulable-'], 'CONDITION'],
  ])('is refused: %s', (_rule, taints, code) => {
    expect(() => changed(...taints)).toThrow(expect.objectContaining({ code: `EVICTD_TAINT_${code}` }));
  });
});
