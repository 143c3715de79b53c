import { describe, expect, test, vi } from 'vitest';
import { initialState } from '../../../src/core/decide/state.js';
import { pauseBy, pauseRequestOf, resumeBy, type PauseParts } from '../../../src/features/request/pause-answer.js';
import { candidates, SECOND, workload } from '../../core/support.js';

const MINUTE = 60n * SECOND;
const found = () =>
  candidates([workload('db', { path: '/a/db' }), 1n], [workload('web', { path: '/a/web' }), 1n], [workload('web', { path: '/b/web' }), 1n]);
const body = (request: object): string => JSON.stringify({ for: '30m', reason: 'test', ...request });
const read = (text: string, maxNs = 240n * MINUTE) => pauseRequestOf(text, maxNs, found);

describe('a request for a pause', () => {
  test.each<[rule: string, text: string, request: object]>([
    ['of everything', body({}), { forNs: 30n * MINUTE, reason: 'test' }],
    ['as long as permitted', body({ for: '4h' }), { forNs: 240n * MINUTE }],
    ['by name', body({ workload: 'db' }), { workload: { name: 'db', path: '/a/db' } }],
    ['by path', body({ workload: '/b/web' }), { workload: { name: 'web', path: '/b/web' } }],
  ])('%s', (_rule, text, request) => {
    expect(read(text)).toMatchObject(request);
  });

  test.each<[rule: string, text: string, code: string]>([
    ['no JSON', '', 'EVICTD_PAUSE_REQUEST'],
    ['no object', '[]', 'EVICTD_PAUSE_REQUEST'],
    ['no reason', '{"for":"1m"}', 'EVICTD_PAUSE_REQUEST'],
    ['an empty reason', body({ reason: ' ' }), 'EVICTD_PAUSE_REQUEST'],
    ['a long reason', body({ reason: 'x'.repeat(501) }), 'EVICTD_PAUSE_REQUEST'],
    ['a workload that is no text', body({ workload: 1 }), 'EVICTD_PAUSE_REQUEST'],
    ['an unknown field: a misspelt workload must not pause everything', body({ workloads: 'db' }), 'EVICTD_PAUSE_REQUEST'],
    ['no length', body({ for: 'long' }), 'EVICTD_PAUSE_LENGTH'],
    ['a length of 0', body({ for: '0s' }), 'EVICTD_PAUSE_LENGTH'],
    ['longer than permitted', body({ for: '4h0m1s' }), 'EVICTD_PAUSE_LENGTH'],
    ['an unknown workload', body({ workload: 'batch' }), 'EVICTD_PAUSE_WORKLOAD'],
    ['several of this name', body({ workload: 'web' }), 'EVICTD_PAUSE_WORKLOAD'],
  ])('refused: %s', (_rule, text, code) => {
    expect(() => read(text)).toThrow(expect.objectContaining({ code }));
  });

  test('none is permitted', () => {
    expect(() => read(body({}), 0n)).toThrow(/no pause is permitted/);
  });
});

function parts(isMade: boolean): PauseParts & { readonly ask: ReturnType<typeof vi.fn> } {
  const ask = vi.fn(() => isMade);
  const status = {
    safeMode: undefined,
    pauses: [{ reason: 'test', endSeconds: 60, endsAt: '1970-01-01T00:01:00.000Z', endsLocal: '1970-01-01 01:01:00+01:00' }],
  };
  return { maxNs: () => MINUTE, candidates: found, monitor: { ask, remaining: initialState }, status, ask };
}

test('the answer says what is paused until when', () => {
  const running = parts(true);
  expect(pauseBy(body({ for: '1m' }), running).json).toEqual({
    message: 'an operator has paused evictions until 1970-01-01 01:01:00+01:00: test',
    pauses: [{ reason: 'test', workload: null, endsAt: '1970-01-01T00:01:00.000Z' }],
  });
  expect(running.ask).toHaveBeenCalledWith({ source: 'pause', pause: { forNs: MINUTE, reason: 'test' } });
  expect(resumeBy(running).json).toMatchObject({ message: 'an operator resumed evictions: nothing was paused' });
  const unsafe = resumeBy({ ...running, status: { ...running.status, safeMode: 'it has crashed 5 times' } });
  expect(unsafe.json).toMatchObject({ message: expect.stringMatching(/safe mode .* evicts nothing: it has crashed 5 times$/) as string });
});

test('an evictd that stops refuses both', () => {
  expect(() => pauseBy(body({ for: '1m' }), parts(false))).toThrow(/stopping/);
  expect(() => resumeBy(parts(false))).toThrow(/stopping/);
});
