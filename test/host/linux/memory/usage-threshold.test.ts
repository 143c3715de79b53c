import { expect, test } from 'vitest';
import { UsageThreshold } from '../../../../src/host/linux/memory/usage-threshold.js';
import type { Binding } from '../../../../src/native/binding.js';

const THRESHOLD = { MOVED: 1, REFUSED: 2 };

/** Has the state that the test sets: which answers of the armer come in one wake cannot be chosen with a kernel. */
class StandIn {
  static requested: bigint[] = [];
  static armed: bigint | undefined;
  static wake: (bits: number, atNs: bigint, detail: number) => void;
  readonly live = true;
  constructor(_directory: string, usage: bigint, onWake: typeof StandIn.wake) {
    StandIn.requested = [usage];
    StandIn.wake = onWake;
  }
  get armed() {
    return StandIn.armed;
  }
  move(usage: bigint) {
    StandIn.requested.push(usage);
  }
  close() {
    return undefined;
  }
}

const native = { MemcgThreshold: StandIn, THRESHOLD, WAKE: { FIRED: 1, GONE: 2 } } as unknown as Binding;
const aim = (usage: bigint) => ({ base: usage, usage });

test.each<[rule: string, armed: bigint, requested: bigint[]]>([
  ['whose registration was refused later is registered again', 1n, [1n, 2n, 2n]],
  ['that is already registered is not registered again', 2n, [1n, 2n]],
])('a threshold %s', (_rule, armed, requested) => {
  let wakes = 0;
  const threshold = new UsageThreshold(native, '/sys/fs/cgroup/memory', () => (wakes += 1));
  threshold.arm(aim(1n), 0n);
  threshold.arm(aim(2n), 1n);
  StandIn.armed = armed;
  StandIn.wake(1, 2n, THRESHOLD.MOVED | THRESHOLD.REFUSED);
  expect(wakes).toBe(1);
  threshold.arm(aim(2n), 3n);
  expect(StandIn.requested).toEqual(requested);
  threshold.close();
});

test.each<[rule: string, base: bigint, atNs: bigint, hasCrossed: boolean, isMoved: boolean]>([
  ['waits for a second', 1n, 40_000_000n, false, false],
  ['moves after a second', 1n, 1_000_000_000n, false, true],
  ['moves after a crossing', 1n, 40_000_000n, true, true],
  ['moves for another threshold or capacity', 2n, 40_000_000n, false, true],
])('a threshold whose reclaimable memory has changed %s', (_rule, base, atNs, hasCrossed, isMoved) => {
  const threshold = new UsageThreshold(native, '/sys/fs/cgroup/memory', () => undefined);
  threshold.arm({ base: 1n, usage: 10n }, 0n);
  StandIn.armed = 10n;
  StandIn.wake(1, 1n, hasCrossed ? 0 : THRESHOLD.MOVED);
  threshold.arm({ base, usage: 12n }, atNs);
  expect(StandIn.requested).toEqual(isMoved ? [10n, 12n] : [10n]);
  threshold.close();
});
