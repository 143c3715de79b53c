import { afterEach, expect, test } from 'vitest';
import { MachineShutdown } from '../../../src/features/shutdown/open.js';
import type { ShutdownConfig } from '../../../src/core/workload/shutdown-config.js';
import { Status } from '../../../src/metrics/status.js';
import type { JournalRecord } from '../../../src/journal/records/record.js';
import type { ShutdownDelay, ShutdownDelayState, ShutdownEvents } from '../../../src/monitor/ports/shutdown-delay.js';
import { candidates, SECOND, workload } from '../../core/support.js';
import { NO_SHUTDOWN } from '../../config/lint/support.js';
import { eventually } from '../../support/eventually.js';

// logind and the workloads are fakes: these tests show the calls to logind. test/features/shutdown/shutdown.test.ts has
// real processes.

const SOME: ShutdownConfig = { ...NO_SHUTDOWN, shutdownGracePeriodNs: 30n * SECOND, shutdownGracePeriodCriticalPodsNs: 10n * SECOND };

class PlayedDelay implements ShutdownDelay {
  state: ShutdownDelayState = { kind: 'off', reason: 'not asked yet' };
  events: ShutdownEvents | undefined;
  releases = 0;
  closed = false;
  start(events: ShutdownEvents): void {
    this.events = events;
  }
  release(): void {
    this.releases += 1;
  }
  close(): void {
    this.closed = true;
  }
}

const running: MachineShutdown[] = [];
afterEach(() => {
  for (const each of running.splice(0)) each.close();
});

/** With one workload, which ends when `end` is called. */
function open(dryRun = false, changed: (lasts: boolean) => void = () => undefined) {
  const delays: PlayedDelay[] = [];
  const status = new Status();
  const said: string[] = [];
  const records: JournalRecord[] = [];
  let processes = 1;
  const shutdown = new MachineShutdown({
    openDelay: () => {
      const delay = new PlayedDelay();
      delays.push(delay);
      return delay;
    },
    workloads: { candidates: () => candidates([workload('batch'), 1n]) },
    evictor: {
      begin: () => ({
        terminate: () => ({ atNs: process.hrtime.bigint(), processes: 1, error: undefined }),
        kill: () => ({ atNs: process.hrtime.bigint(), processes: 1, error: undefined }),
        read: () => ({ processes, usageBytes: 0n, removed: false }),
        onExit: () => undefined,
        close: () => undefined,
      }),
    },
    journal: { record: (record) => records.push(record) },
    log: { info: (message) => void said.push(message), warn: (message) => void said.push(message) },
    dryRun,
    status,
  });
  shutdown.onChange((lasts) => {
    changed(lasts);
    said.push(lasts ? 'changed: shutting down' : 'changed: cancelled');
  });
  running.push(shutdown);
  const prepare = (begins: boolean): void => delays.at(-1)?.events?.prepare(begins);
  const end = (): void => {
    processes = 0;
  };
  return { shutdown, delays, status, said, records, prepare, end, configure: (of: ShutdownConfig) => shutdown.configure({ shutdown: of }) };
}

test('without a shutdown grace period logind is not contacted', () => {
  const { configure, delays } = open();
  configure(NO_SHUTDOWN);
  expect(delays).toEqual([]);
});

test('a reload acquires the delay lock once, and a reload releases it', () => {
  const { configure, delays } = open();
  configure(NO_SHUTDOWN);
  configure(SOME);
  configure({ ...SOME, shutdownGracePeriodNs: 60n * SECOND });
  expect(delays).toHaveLength(1);
  expect(delays[0]).toMatchObject({ closed: false });
  configure(NO_SHUTDOWN);
  expect(delays[0]).toMatchObject({ closed: true });
});

test('the lock is released when all workloads have ended; the metrics have the times', async () => {
  const { shutdown, configure, delays, status, said, prepare, end } = open();
  configure(SOME);
  expect(status.shutdown).toEqual({ lasts: false, startSeconds: 0, endSeconds: 0 });
  const before = Date.now() / 1_000;
  prepare(true);
  expect(said[0]).toBe('changed: shutting down');
  expect(shutdown.lasts).toBe(true);
  expect(delays[0]).toMatchObject({ releases: 0 });
  expect(status.shutdown).toMatchObject({ lasts: true, endSeconds: 0 });
  expect(status.shutdown.startSeconds).toBeGreaterThanOrEqual(before);
  end();
  await eventually('it is let go', () => delays[0]?.releases === 1);
  expect(status.shutdown.lasts).toBe(true);
  expect(status.shutdown.endSeconds).toBeGreaterThanOrEqual(status.shutdown.startSeconds);
});

test('after a cancelled shutdown the lock is acquired again, and the metrics have the time', () => {
  const { shutdown, configure, delays, status, said, prepare } = open();
  configure(SOME);
  prepare(true);
  prepare(false);
  expect([shutdown.lasts, said.at(-1)]).toEqual([false, 'changed: cancelled']);
  expect(status.shutdown).toMatchObject({ lasts: false });
  expect(status.shutdown.endSeconds).toBeGreaterThan(0);
  expect(delays[0]).toMatchObject({ closed: false });
});

test('a reload during a shutdown has its effect when the shutdown is cancelled', () => {
  const { configure, delays, prepare, records } = open();
  configure(SOME);
  prepare(true);
  configure(NO_SHUTDOWN);
  expect(delays[0]).toMatchObject({ closed: false });
  prepare(false);
  expect(delays[0]).toMatchObject({ closed: true });
  expect(records.map(({ phase }) => phase)).toEqual(['begins', 'called-off']);
});

test('evictd that stops during a shutdown releases the lock, and the journal has a record', () => {
  const { shutdown, configure, delays, prepare, records } = open();
  configure(SOME);
  prepare(true);
  shutdown.close();
  shutdown.close();
  expect(delays[0]).toMatchObject({ closed: true });
  expect(records.map(({ phase }) => phase)).toEqual(['begins', 'interrupted']);
});

test('the log and the metrics say whether a shutdown waits, and why not', () => {
  const { configure, delays, said, status } = open();
  configure(SOME);
  delays[0]?.events?.changed({ kind: 'off', reason: 'there is no logind' });
  expect(said).toEqual(['a shutdown of the machine does not wait for evictd: there is no logind']);
  expect(status.shutdownDelayProblem).toBe('there is no logind');
  delays[0]?.events?.changed({ kind: 'held' });
  expect(said[1]).toBe('a shutdown of the machine waits for evictd, which requests 30s');
  expect(status.shutdownDelayProblem).toBeUndefined();
});

test('a dry run records what it would do, and holds no lock', () => {
  const { configure, delays, prepare, records, said, status } = open(true);
  configure(SOME);
  delays[0]?.events?.changed({ kind: 'off', reason: 'evictd does not take the lock' });
  expect(said).toEqual([]);
  prepare(true);
  expect(records.map(({ phase }) => phase)).toEqual(['begins']);
  expect(status.shutdown).toEqual({ lasts: false, startSeconds: 0, endSeconds: 0 });
  prepare(false);
  expect(status.shutdown).toEqual({ lasts: false, startSeconds: 0, endSeconds: 0 });
});

test('an error at the begin or the end of a shutdown is logged, and does not delay the machine', async () => {
  const { shutdown, configure, delays, prepare, said, end } = open(false, () => {
    throw new Error('no more memory');
  });
  configure(SOME);
  prepare(true);
  expect(said.slice(0, 2)).toEqual([
    'cannot publish that the machine is shutting down: no more memory',
    expect.stringContaining('the machine is shutting down: workloads end in this order: '),
  ]);
  end();
  await eventually('it is let go', () => delays[0]?.releases === 1);
  prepare(false);
  expect([said.at(-1), shutdown.lasts]).toEqual(['cannot cancel the shutdown of workloads: no more memory', false]);
  expect(delays[0]).toMatchObject({ releases: 1, closed: false });
});
