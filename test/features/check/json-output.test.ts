import { expect, test } from 'vitest';
import { checkJson } from '../../../src/features/check/json-output.js';
import { jsonInteger } from '../../../src/core/quantity/integer.js';
import { failedReport } from '../../../src/features/check/check-report.js';
import { ConfigError } from '../../../src/errors.js';
import { clock, dead, live, reading, report, short, unread } from './support.js';

const parsed = (given: Parameters<typeof checkJson>[0]): unknown => JSON.parse(checkJson(given));

test('JSON output has every field', () => {
  const notices = [
    { level: 'warn', code: 'EVICTD_W', message: 'a warning', position: { file: 'c.yaml', line: 2, column: 1 } },
    { level: 'info', code: 'EVICTD_I', message: 'not a problem' },
  ] as const;
  const problems = [{ code: 'EVICTD_P', message: 'no cgroup /w', hint: 'create it' }];
  expect(parsed(report(short, { notifiers: [live, dead], notices, problems }))).toStrictEqual({
    status: 'hard',
    exit: 2,
    node: { name: 'machine', cgroup: null, cgroupVersion: 1 },
    signals: [
      {
        signal: 'memory.available',
        availableBytes: 52428800,
        capacityBytes: 17179869184,
        time: '2026-11-21T12:00:00.000Z',
        source: 'memory.available of a test',
        thresholds: [
          { kind: 'hard', value: 104857600, met: true },
          { kind: 'soft', value: 858993472, met: true },
        ],
      },
      {
        signal: 'nodefs.available',
        availableBytes: 128849018880,
        capacityBytes: 214748364800,
        time: '2026-11-21T12:00:00.000Z',
        source: 'nodefs.available of a test',
        thresholds: [{ kind: 'hard', value: 21474836800, met: false }],
      },
      {
        signal: 'pid.available',
        available: 32000,
        capacity: 32768,
        time: '2026-11-21T12:00:00.000Z',
        source: 'pid.available of a test',
        thresholds: [{ kind: 'hard', value: 100, met: false }],
      },
    ],
    conditions: [
      { type: 'MemoryPressure', status: 'True' },
      { type: 'DiskPressure', status: 'False' },
      { type: 'PIDPressure', status: 'False' },
    ],
    notifiers: [
      { mechanism: 'memcg_threshold', signal: 'memory.available', target: 'memory.usage_in_bytes of /', live: true, essential: true },
      {
        mechanism: 'psi_trigger',
        signal: 'memory.available',
        target: '/proc/pressure/memory',
        live: false,
        essential: false,
        reason: 'EPERM',
        hint: 'run as root',
      },
    ],
    problems: [
      { code: 'EVICTD_P', message: 'no cgroup /w', hint: 'create it' },
      { code: 'EVICTD_W', message: 'a warning', position: 'c.yaml:2:1' },
    ],
  });
});

test('a signal without a reading has a reason instead of values', () => {
  expect(parsed(report(unread))).toMatchObject({
    status: 'unknown',
    exit: 3,
    conditions: [{}, { type: 'DiskPressure', status: 'Unknown' }, {}],
    problems: [{ code: 'EVICTD_SIGNAL_UNREADABLE', message: 'nodefs.available cannot be read: /var: no answer for 1 s' }],
  });
  const { signals } = parsed(report(unread)) as { signals: unknown[] };
  expect(signals[1]).toStrictEqual({
    signal: 'nodefs.available',
    thresholds: [{ kind: 'hard', value: null, met: null }],
    reason: '/var: no answer for 1 s',
  });
});

test('a failed check has every field, empty', () => {
  const error = new ConfigError([{ code: 'EVICTD_A', message: 'unknown signal', hint: 'a hint', position: { file: 'c.yaml', line: 1 } }]);
  expect(parsed(failedReport(error, clock))).toStrictEqual({
    status: 'unknown',
    exit: 3,
    node: null,
    signals: [],
    conditions: [],
    notifiers: [],
    problems: [{ code: 'EVICTD_A', message: 'unknown signal', hint: 'a hint', position: 'c.yaml:1' }],
  });
});

test.each<[rule: string, value: bigint, json: number | string]>([
  ['2^53 is a number', 2n ** 53n, 9007199254740992],
  ['2^53 + 1 is text', 2n ** 53n + 1n, '9007199254740993'],
  ['-2^53 is a number', -(2n ** 53n), -9007199254740992],
  ['-2^53 - 1 is text', -(2n ** 53n) - 1n, '-9007199254740993'],
  ['0', 0n, 0],
])('%s', (_rule, value, json) => {
  expect(jsonInteger(value)).toBe(json);
});

test('large values stay exact in JSON', () => {
  const large = 2n ** 60n + 1n;
  expect(parsed(report(reading({ 'memory.available': [large, large] }), { thresholds: [] }))).toMatchObject({
    signals: [{ availableBytes: '1152921504606846977', capacityBytes: '1152921504606846977' }],
  });
});

test('a reading without a time has a null time in JSON', () => {
  const observation = { available: 1n, capacity: 2n, timeNs: undefined, source: 'a summary' };
  const { signals } = parsed(report({ observed: new Map([['pid.available', observation]]), missing: new Map() }, { thresholds: [] })) as {
    signals: object[];
  };
  expect(signals).toEqual([{ signal: 'pid.available', available: 1, capacity: 2, source: 'a summary', thresholds: [] }]);
});
