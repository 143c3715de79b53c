import { beforeEach, expect, test, vi } from 'vitest';
import { initialState, type State } from '../../../src/core/decide/state.js';
import type { StepReport, WorkloadSource } from '../../../src/monitor/ports/ports.js';
import type { DiskMeasurement, ShortSince } from '../../../src/workloads/disk/disk-measurement.js';
import { DiskWatch } from '../../../src/features/disk/disk-watch.js';
import { candidates, Gi, Mi, observations, policy, SECOND, threshold, workload } from '../../core/support.js';

const disk = threshold('nodefs.available', '100Mi');
const met: Partial<State> = { episodes: new Map([['nodefs', disk]]) };
const going = (gone: boolean, resource = 'ephemeral-storage', phase = 'dying'): Partial<State> => ({
  ...met,
  evictions: [
    { decision: { serial: 1, resource, victim: { workload: {} } }, phase, ...(gone && { exitedSinceNs: 1n }) },
  ] as unknown as State['evictions'],
});

const source: WorkloadSource = {
  candidates: () => candidates([workload('a'), 1n]),
  refresh: () => undefined,
  holding: () => undefined,
  problems: () => [],
  close: () => undefined,
};

const onNews = vi.fn();
let measurements: ((result: DiskMeasurement) => void)[];
let watch: DiskWatch;
let startNs: bigint;

beforeEach(() => {
  measurements = [];
  onNews.mockClear();
  startNs = process.hrtime.bigint();
  watch = new DiskWatch({ measure: () => new Promise((resolve) => measurements.push(resolve)), onNews });
});

function stepped(
  seconds: number,
  availableMi: bigint,
  state: Partial<State> = {},
  thresholds: StepReport['policy']['thresholds'] = [disk],
): void {
  const nowNs = startNs + BigInt(Math.round(seconds * 1e9));
  watch.stepped({
    policy: policy(thresholds),
    input: { nowNs },
    observations: observations(nowNs, { 'nodefs.available': availableMi * Mi }),
    state: { ...initialState, ...state },
  } as unknown as StepReport);
}

/** The newest measurement is over; it began then, and took so long. */
async function done(seconds: number, took = 0.1): Promise<void> {
  const beganNs = startNs + BigInt(Math.round(seconds * 1e9));
  measurements.at(-1)?.({
    beganNs,
    endedNs: beganNs + BigInt(Math.round(took * 1e9)),
    problems: [],
    holders: {},
    of: () => ({ nodefs: { uses: { bytes: Gi, inodes: 1n }, frees: { bytes: Gi, inodes: 1n }, atNs: beganNs } }),
  });
  await Promise.resolve();
}

const held = (): unknown => watch.on(source).candidates().holdings?.('/a').nodefs;

test('containers are asked for their growth since the disk is short, and before that since now', async () => {
  const since: (ShortSince | undefined)[] = [];
  const requested = (role: 'nodefs' | 'imagefs' = 'nodefs'): bigint | undefined => {
    watch.on(source).candidates().holdings?.('/a');
    return since.at(-1)?.[role];
  };
  stepped(0, 150n);
  measurements.at(-1)?.({
    beganNs: process.hrtime.bigint(),
    endedNs: process.hrtime.bigint(),
    problems: [],
    holders: {},
    of: (_path, shortSince) => {
      since.push(shortSince);
      return {};
    },
  });
  await Promise.resolve();
  const nowNs = process.hrtime.bigint();
  expect(requested()).toBeGreaterThanOrEqual(nowNs);
  stepped(1, 1n, met);
  stepped(2, 1n, met);
  expect(requested()).toBe(startNs + SECOND);
  stepped(3, 150n);
  stepped(4, 1n, met);
  expect(requested()).toBe(startNs + 4n * SECOND);
  stepped(5, 1n, { episodes: new Map([...(met.episodes ?? []), ['imagefs', threshold('imagefs.available', '1Gi')]]) });
  expect([requested(), requested('imagefs')]).toEqual([startNs + 4n * SECOND, startNs + 5n * SECOND]);
  stepped(6, 1n, { episodes: new Map([...(met.episodes ?? []), ['soft', threshold('nodefs.available', '1Gi')]]) });
  expect(requested()).toBe(startNs + 6n * SECOND);
});

test.each<[rule: string, availableMi: bigint, state: Partial<State>, thresholds: StepReport['policy']['thresholds'], measured: number]>([
  ['with twice the threshold available there is no measurement', 200n, {}, [disk], 0],
  ['less is left', 199n, {}, [disk], 1],
  ['a threshold is met', 900n, met, [disk], 1],
  ['there is no threshold for a disk', 1n, {}, [threshold('memory.available', '100Mi')], 0],
  ['a victim is ending: the result would be out of date', 1n, going(false), [disk], 0],
])('%s', (_rule, availableMi, state, thresholds, measured) => {
  stepped(1, availableMi, state, thresholds);
  expect(measurements).toHaveLength(measured);
});

test('one measurement runs at a time, every five seconds while a threshold is met and every minute while it is near', async () => {
  stepped(0, 1n, met);
  stepped(6, 1n, met);
  expect(measurements).toHaveLength(1);
  await done(0);
  stepped(4.9, 1n, met);
  expect(measurements).toHaveLength(1);
  stepped(5, 1n, met);
  expect(measurements).toHaveLength(2);
  await done(5);
  stepped(64, 150n);
  expect(measurements).toHaveLength(2);
  stepped(65, 150n);
  expect(measurements).toHaveLength(3);
});

test('a slow measurement is repeated less often', async () => {
  stepped(0, 1n, met);
  await done(0, 3);
  stepped(59, 1n, met);
  expect(measurements).toHaveLength(1);
  stepped(60, 1n, met);
  expect(measurements).toHaveLength(2);
});

test('a pass has the last measurement; before the first one, and when the last is old, the state is measuring', async () => {
  expect(held()).toBe('measuring');
  stepped(0, 1n, met);
  await done(0);
  expect(onNews).toHaveBeenCalledOnce();
  expect(held()).toMatchObject({ frees: { bytes: Gi } });
  stepped(5, 1n, met);
  await done(-31);
  expect(held()).toBe('measuring');
  stepped(10, 1n, met);
  await done(-31, 11);
  expect(held()).toMatchObject({ frees: { bytes: Gi } });
});

test('no measurement runs while a victim ends; the next one follows at once, and earlier results do not count', async () => {
  stepped(0, 1n, met);
  await done(0);
  onNews.mockClear();
  stepped(0.1, 1n, going(false));
  expect(held()).toBe('measuring');
  expect(onNews).not.toHaveBeenCalled();
  stepped(0.2, 1n, going(true));
  expect(onNews).toHaveBeenCalledOnce(); // the filesystem is read anew
  stepped(0.21, 1n, going(true)); // by that pass: no other one right after it
  expect(onNews).toHaveBeenCalledOnce();
  stepped(0.22, 1n, going(true));
  expect(onNews).toHaveBeenCalledTimes(2);
  expect(measurements).toHaveLength(1);
  stepped(0.3, 1n, met);
  expect(measurements).toHaveLength(2);
  await done(0.3);
  expect(held()).toMatchObject({ frees: { bytes: Gi } });
});

test('a victim of another resource delays no measurement, and after its end all are repeated', async () => {
  stepped(0, 1n, { ...going(false, 'memory') });
  await done(0);
  expect(held()).toMatchObject({ frees: { bytes: Gi } });
  stepped(5, 1n, going(false, 'memory'));
  expect(measurements).toHaveLength(2);
  await done(5);
  stepped(5.5, 1n, met);
  expect(held()).toBe('measuring');
  expect(measurements).toHaveLength(3);
  await done(5.6);
  expect(held()).toMatchObject({ frees: { bytes: Gi } });
  stepped(6, 1n, going(false, 'pids'));
  stepped(6.5, 1n, going(true, 'pids'));
  expect(held()).toBe('measuring');
  await done(6.6);
  stepped(7, 1n, going(true, 'pids'));
  expect(held()).toMatchObject({ frees: { bytes: Gi } });
});

test('measurements of filesystems that are no longer in use decide nothing', async () => {
  stepped(0, 1n, met);
  await done(0);
  watch.forget();
  expect(held()).toBe('measuring');
  stepped(0.1, 1n, met);
  expect(measurements).toHaveLength(2);
  watch.forget();
  await done(0);
  expect(held()).toBe('measuring');
});

test('a victim in its grace period delays no measurement', async () => {
  stepped(0, 1n, going(false, 'inodes', 'terminating'));
  await done(0);
  expect(held()).toMatchObject({ frees: { bytes: Gi } });
  stepped(1, 1n, going(true, 'inodes', 'terminating'));
  expect(held()).toBe('measuring');
  await done(1.1);
  stepped(2, 1n, met);
  expect(measurements).toHaveLength(2);
});

test('a directory that could not be read is a problem of the source', async () => {
  stepped(0, 1n, met);
  measurements[0]?.({
    beganNs: SECOND,
    endedNs: SECOND,
    of: () => ({}),
    holders: {},
    problems: [{ code: 'EVICTD_DISK_UNMEASURED', message: 'no' }],
  });
  await Promise.resolve();
  expect(watch.on(source).problems()).toEqual([{ code: 'EVICTD_DISK_UNMEASURED', message: 'no' }]);
});

test.each<[rule: string, fail: () => Promise<DiskMeasurement>]>([
  [
    'throws',
    () => {
      throw new Error('EMFILE');
    },
  ],
  ['rejects', () => Promise.reject(new Error('EMFILE'))],
])('a measurement that %s is a problem, delays no decision, and is tried again', async (_rule, fail) => {
  let measure = fail;
  watch = new DiskWatch({ measure: () => measure(), onNews });
  stepped(0, 1n, met);
  await Promise.resolve();
  expect(watch.on(source).problems()).toEqual([
    { code: 'EVICTD_DISK_UNMEASURED', message: 'cannot measure the disk usage of workloads: Error: EMFILE' },
  ]);
  expect(held()).toBeUndefined(); // known to free nothing
  expect(onNews).toHaveBeenCalledOnce();
  measure = () => new Promise((resolve) => measurements.push(resolve));
  stepped(5, 1n, met);
  await done(5);
  expect(watch.on(source).problems()).toEqual([]);
  expect(held()).toMatchObject({ frees: { bytes: Gi } });
});

test('after close() nothing is measured or reported', async () => {
  stepped(0, 1n, met);
  watch.close();
  await done(0);
  stepped(10, 1n, met);
  expect(measurements).toHaveLength(1);
  expect(onNews).not.toHaveBeenCalled();
});
