import { expect, test } from 'vitest';
import type { VictimReading } from '../../../src/core/decide/eviction.js';
import { advanceShutdown, killTimeNs, type EndingWorkload, type GroupNow } from '../../../src/features/shutdown/shutdown-progress.js';
import { SECOND, workload } from '../../core/support.js';

const reading = (of: Partial<VictimReading> = {}): VictimReading => ({
  processes: 1,
  usageBytes: 0n,
  removed: false,
  vanished: false,
  error: undefined,
  signalledAtNs: 0n,
  ...of,
});
/** SIGTERM at 0, with 5 s of the 20 s of its group. */
const reported = (of: Partial<EndingWorkload> = {}): EndingWorkload => ({
  serial: 1,
  workload: workload('batch'),
  group: 0,
  requestedAtNs: 0n,
  gracePeriodNs: 5n * SECOND,
  killsAtNs: 5n * SECOND,
  killedAtNs: undefined,
  ...of,
});
const first: GroupNow = { index: 0, isLast: false, endsAtNs: 20n * SECOND };
const last: GroupNow = { ...first, isLast: true };
const killed = { killedAtNs: 5n * SECOND };
const at = (
  atNs: bigint,
  seen: Partial<VictimReading>,
  { one = reported(), group = first, evicted = false }: { one?: EndingWorkload; group?: GroupNow; evicted?: boolean } = {},
) => advanceShutdown([one], new Map([[1, reading(seen)]]), group, () => evicted, atNs);

test.each<[rule: string, atNs: bigint, seen: Partial<VictimReading>, rest: Parameters<typeof at>[2], result: string | undefined]>([
  ['processes are left', SECOND, {}, {}, undefined],
  ['it has no process left', SECOND, { processes: 0 }, {}, 'ended'],
  ['it has no process left, and systemd is still stopping it', SECOND, { processes: 0, stopping: true }, {}, undefined],
  [
    'it has no process left, systemd is still stopping it, and its time is over',
    5n * SECOND,
    { processes: 0, stopping: true },
    {},
    'ended',
  ],
  [
    'it has no process left, systemd is still stopping it, and it was killed',
    6n * SECOND,
    { processes: 0, stopping: true },
    { one: reported(killed) },
    'killed',
  ],
  ['it has no process left after SIGKILL', 6n * SECOND, { processes: 0 }, { one: reported(killed) }, 'killed'],
  ['it has no process left, and an eviction has chosen it', SECOND, { processes: 0 }, { evicted: true }, 'evicted'],
  [
    'an eviction has chosen it after it was killed, and it has no process left',
    6n * SECOND,
    { processes: 0 },
    { one: reported(killed), evicted: true },
    'killed',
  ],
  ['it had ended before', SECOND, { processes: undefined, vanished: true }, {}, 'already-ended'],
  ['it cannot be signalled', SECOND, { processes: undefined, error: 'EACCES' }, {}, 'survived'],
  ['it could not be signalled yet', SECOND, { processes: undefined, error: 'EMFILE', passing: 'unsent' }, {}, undefined],
  ['SIGTERM has failed: SIGKILL is still to come', SECOND, { error: 'EPERM' }, {}, undefined],
  ['SIGKILL has failed for good', 6n * SECOND, { error: 'EPERM' }, { one: reported(killed) }, 'survived'],
  ['SIGKILL is repeated', 6n * SECOND, { error: 'EAGAIN', passing: 'unsent' }, { one: reported(killed) }, undefined],
])('the result of a workload at shutdown: %s', (_rule, atNs, seen, rest, result) => {
  expect(at(atNs, seen, rest).ended[0]?.result).toBe(result);
});

test.each<[rule: string, atNs: bigint, one: EndingWorkload, kills: number]>([
  ['not before its time is over', 5n * SECOND - 1n, reported(), 0],
  ['when its time is over', 5n * SECOND, reported(), 1],
  ['once', 6n * SECOND, reported(killed), 0],
])('a workload is killed %s', (_rule, atNs, one, kills) => {
  const { kill, ending } = at(atNs, {}, { one });
  expect(kill).toHaveLength(kills);
  if (kills === 1) expect(ending[0]?.killedAtNs).toBe(atNs);
});

test.each<[rule: string, atNs: bigint, seen: Partial<VictimReading>, rest: Parameters<typeof at>[2], killsAtNs: bigint]>([
  ['gets the stop request', 3n * SECOND, {}, {}, 5n * SECOND],
  ['has its turn', 3n * SECOND, { queued: true }, {}, 8n * SECOND],
  ['has its turn, though its own time would be over', 6n * SECOND, { queued: true }, {}, 11n * SECOND],
  ['has its turn, and the time ends with its group', 18n * SECOND, { queued: true }, {}, 20n * SECOND],
  ['gets the stop request, in a group without time', SECOND, { queued: true }, { group: { ...first, endsAtNs: 0n } }, 5n * SECOND],
  ['gets the stop request, in an earlier group', 3n * SECOND, { queued: true }, { group: { ...first, index: 1 } }, 5n * SECOND],
])('the time of a unit begins when the unit %s', (_rule, atNs, seen, rest, killsAtNs) => {
  const { ending, kill } = at(atNs, seen, rest);
  expect([ending[0]?.killsAtNs, kill]).toEqual([killsAtNs, []]);
});

test("a unit that systemd queues until its group's time is over is killed", () => {
  expect(at(20n * SECOND, { queued: true }, {}).kill).toHaveLength(1);
});

test.each<[rule: string, atNs: bigint, seen: Partial<VictimReading>, rest: Parameters<typeof at>[2], isOver: boolean]>([
  ['not while a workload has time left', 19n * SECOND, {}, {}, false],
  ['when the last workload has ended', SECOND, { processes: 0 }, {}, true],
  ['when its time is over, with processes left', 20n * SECOND, {}, { one: reported(killed) }, true],
  ['processes of an earlier group are left', SECOND, {}, { group: { ...first, index: 1 } }, true],
  ['the last group waits for these too', 6n * SECOND - 1n, {}, { one: reported(killed), group: { ...last, index: 1 } }, false],
  [
    'the last group waits a second for these, even without workloads of its own',
    6n * SECOND,
    {},
    { one: reported(killed), group: { ...last, index: 1 } },
    true,
  ],
  ['the last group waits for workloads killed at its end', 20n * SECOND, {}, { group: last }, false],
  [
    'the last group waits no longer than a second for workloads killed at its end',
    21n * SECOND,
    {},
    { one: reported({ killedAtNs: 20n * SECOND }), group: last },
    true,
  ],
  ['a killed workload of the last group has the time of the group', 19n * SECOND, {}, { one: reported(killed), group: last }, false],
  ['a group without time does not wait', 0n, {}, { group: { ...first, endsAtNs: 0n } }, true],
  ['the last group without time does not wait, either', 0n, {}, { group: { ...last, endsAtNs: 0n } }, true],
])('the end of a group: %s', (_rule, atNs, seen, rest, isOver) => {
  expect(at(atNs, seen, rest).isOver).toBe(isOver);
});

test.each<[rule: string, one: EndingWorkload, group: GroupNow, dueAtNs: bigint]>([
  ['the time of a workload is over', reported(), first, 5n * SECOND],
  ['the time of the group is', reported(killed), first, 20n * SECOND],
  ['evictd waits for no workload any more', reported({ killedAtNs: 20n * SECOND }), last, 21n * SECOND],
])('the next check is due when %s', (_rule, one, group, dueAtNs) => {
  expect(at(SECOND, {}, { one, group }).dueAtNs).toBe(dueAtNs);
});

test.each<[rule: string, grace: number, group: number, signalledAt: number, seconds: number]>([
  ['its own time is over', 5, 20, 0, 5],
  ['its own time since SIGTERM is over', 5, 20, 3, 8],
  ['the time of its group is over', 20, 20, 3, 20],
  ['a second is over, where it asks for none', 0, 20, 3, 4],
  ['a second is over, where it asks for less than that', -1, 20, 3, 4],
  ['a second is over, where its group has none', 0, 0, 0, 1],
])('a workload is killed when %s', (_rule, grace, group, signalledAt, seconds) => {
  const of = { gracePeriodNs: BigInt(group) * SECOND, endsAtNs: BigInt(group) * SECOND };
  expect(killTimeNs(BigInt(signalledAt) * SECOND, BigInt(grace) * SECOND, of)).toBe(BigInt(seconds) * SECOND);
});
