import { describe, expect, test } from 'vitest';
import { liveness, readiness } from '../../src/metrics/health.js';
import { Status } from '../../src/metrics/status.js';
import type { NotifierState } from '../../src/monitor/ports/ports.js';
import { SECOND, observations, threshold } from '../core/support.js';

const THRESHOLDS = [threshold('memory.available', '100Mi'), threshold('nodefs.available', '10%')];
const BOTH = observations(0n, { 'memory.available': 1n, 'nodefs.available': 1n });

const notifier: NotifierState = {
  mechanism: 'memcg_threshold',
  signal: 'memory.available',
  target: 'memory.usage_in_bytes of /',
  live: true,
  reason: undefined,
  hint: undefined,
  essential: true,
};
const dead: NotifierState = { ...notifier, live: false, reason: 'EPERM', hint: 'run as root' };

/** Sampled at 0 and probed `ageNs` later, with an interval of 10 s. */
function status(ageNs: bigint, fill: (status: Status) => void): Status {
  let nowNs = 0n;
  const it = new Status(() => nowNs);
  it.monitoringInterval(10n * SECOND);
  fill(it);
  nowNs = ageNs;
  return it;
}

describe('the health check /healthz', () => {
  const read = (it: Status): void => it.observe(BOTH, THRESHOLDS);
  test.each<[rule: string, ageNs: bigint, fill: (status: Status) => void, ok: boolean, line: string]>([
    ['is not ok before the first reading', 0n, () => undefined, false, 'the node has not been read yet'],
    ['just read', 0n, read, true, 'the last tick or pass was 0 s ago'],
    ['three intervals and the margin are allowed', 32n * SECOND, read, true, 'the last tick or pass was 32 s ago'],
    [
      'is not ok after too many missed ticks',
      32n * SECOND + SECOND / 10n,
      read,
      false,
      'the last tick or pass was 32.1 s ago, more than 32 s',
    ],
  ])('%s', (_rule, ageNs, fill, ok, line) => {
    expect(liveness(status(ageNs, fill))).toEqual({ ok, lines: [line] });
  });
});

describe('the readiness check /readyz', () => {
  const guarding = (it: Status): void => {
    it.observe(BOTH, THRESHOLDS);
    it.notifiers([notifier]);
  };
  test.each<[rule: string, fill: (status: Status) => void, ok: boolean, lines: string[]]>([
    ['everything works', guarding, true, []],
    [
      'a configured signal cannot be read',
      (it) => it.observe({ observed: new Map(), missing: new Map([['nodefs.available', 'hangs']]) }, THRESHOLDS),
      false,
      ['memory.available cannot be read: no reading yet', 'nodefs.available cannot be read: hangs'],
    ],
    [
      'an operator has paused evictions',
      (it) => {
        guarding(it);
        it.pauses = [{ reason: 'disk swap', endSeconds: 0, endsAt: '', endsLocal: '1970-01-01 01:00:00+01:00' }];
      },
      false,
      ['an operator has paused evictions until 1970-01-01 01:00:00+01:00: disk swap'],
    ],
    [
      'an operator has paused evictions of a workload',
      (it) => {
        guarding(it);
        it.pauses = [
          { reason: 'disk swap', endSeconds: 0, endsAt: '', endsLocal: '1970-01-01 01:00:00+01:00', workload: { name: 'db', path: '/db' } },
        ];
      },
      true,
      ['note: an operator has paused evictions of db until 1970-01-01 01:00:00+01:00: disk swap'],
    ],
    [
      'a signal that is not configured may be missing',
      (it) => it.observe(observations(0n, { 'memory.available': 1n }), THRESHOLDS.slice(0, 1)),
      true,
      [],
    ],
    [
      'an essential notifier is not live',
      (it) => {
        guarding(it);
        it.notifiers([dead]);
      },
      false,
      ['notifier memcg_threshold on memory.usage_in_bytes of / is not live: EPERM (run as root); memory.available is polled'],
    ],
    [
      'a notifier that could not be moved is a note',
      (it) => {
        guarding(it);
        it.notifiers([{ ...dead, live: true }]);
      },
      true,
      ['note: notifier memcg_threshold on memory.usage_in_bytes of / could not be moved to the new threshold: EPERM'],
    ],
    [
      'an additional notifier and a workload source are notes',
      (it) => {
        guarding(it);
        it.notifiers([notifier, { ...dead, mechanism: 'psi_trigger', essential: false }]);
        it.problems([{ code: 'EVICTD_X', message: 'no cgroup /w', hint: 'create it' }]);
      },
      true,
      [
        'note: notifier psi_trigger on memory.usage_in_bytes of / is not live: EPERM (run as root)',
        'note: no cgroup /w (create it) [EVICTD_X]',
      ],
    ],
    [
      'a problem that is over is gone',
      (it) => {
        it.problems([{ code: 'EVICTD_X', message: 'no cgroup /w' }]);
        it.notifiers([dead]);
        it.problems([]);
        guarding(it);
      },
      true,
      [],
    ],
    [
      'the machine shuts down',
      (it) => {
        guarding(it);
        it.shutdownBegins();
        it.shutdown = { ...it.shutdown, startSeconds: 1_000 };
      },
      false,
      ['the machine has been shutting down since 1970-01-01T00:16:40.000Z: evictd ends workloads and admits none'],
    ],
    [
      'the shutdown was cancelled',
      (it) => {
        guarding(it);
        it.shutdownBegins();
        it.shutdownIsOver();
        it.shutdownCalledOff();
      },
      true,
      [],
    ],
    [
      'a shutdown that would not wait is a note',
      (it) => {
        guarding(it);
        it.shutdownDelayed('no logind');
      },
      true,
      ['note: a shutdown of the machine does not wait for evictd: no logind'],
    ],
    ['has a note if there is no threshold', (it) => it.observe(BOTH, []), true, ['note: no threshold is configured']],
  ])('%s', (_rule, fill, ok, lines) => {
    expect(readiness(status(0n, fill))).toEqual({ ok, lines });
  });

  test('is not ok without a recent sample', () => {
    expect(readiness(status(60n * SECOND, guarding))).toEqual({ ok: false, lines: ['the last tick or pass was 60 s ago, more than 32 s'] });
  });
});
