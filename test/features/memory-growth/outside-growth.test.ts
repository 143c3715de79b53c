import { expect, test } from 'vitest';
import type { Effect } from '../../../src/core/decide/effect.js';
import type { Decision } from '../../../src/core/decide/eviction.js';
import type { MemoryHoldings } from '../../../src/core/budget/memory-growth.js';
import { OutsideGrowth, type GrowthParts } from '../../../src/features/memory-growth/open.js';
import type { CgroupPlace } from '../../../src/host/linux/memory/memory-holdings.js';

const SECOND = 1_000_000_000n;
const MiB = 1n << 20n;

class Machine {
  nowNs = 0n;
  bytes = 0n;
  reads = 0;
  placeOf: (cgroup: string) => CgroupPlace = () => 'outside';
  readonly growth: OutsideGrowth;

  constructor() {
    const workloads = { holding: (path: string) => (path.startsWith('/apps/job') ? { name: 'job', path: '/apps/job' } : undefined) };
    this.growth = new OutsideGrowth({ node: { identity: {}, hierarchy: undefined }, workloads } as unknown as GrowthParts, {
      readMemoryHoldings: (_native, _hierarchy, _node, placeOf): MemoryHoldings => {
        this.reads += 1;
        this.placeOf = placeOf;
        return { atNs: this.nowNs, cgroups: new Map([['/leak', this.bytes]]), counters: new Map(), isPartial: false };
      },
    });
  }

  step(seconds: number, mib: bigint, effects: readonly Effect[]): void {
    this.nowNs = BigInt(seconds) * SECOND;
    this.bytes = mib * MiB;
    this.growth.stepped({ effects });
  }

  evict(seconds: number, mib: bigint, parts: Partial<Decision> = {}): void {
    const ranking = [{ workload: { path: '/apps/job' } }] as unknown as Decision['ranking'];
    const decision = { resource: 'memory', dryRun: false, decidedAtNs: BigInt(seconds) * SECOND, ranking, ...parts } as Decision;
    this.step(seconds, mib, [{ kind: 'evict', decision }]);
  }

  grownMib(alert: 'no-yield' | 'budget-exhausted', mib: bigint): bigint | undefined {
    this.bytes = mib * MiB;
    const growth = this.growth.growth(alert);
    return growth && (growth.growers[0]?.grownBytes ?? 0n) / MiB;
  }
}

test('nothing is read at rest, nor without an eviction for memory whose signal was sent', () => {
  const machine = new Machine();
  machine.step(1, 0n, [{ kind: 'error', message: 'why' }]);
  machine.evict(2, 0n, { dryRun: true });
  machine.evict(3, 0n, { resource: 'pids' });
  expect(machine.grownMib('no-yield', 99n)).toBeUndefined();
  expect(machine.reads).toBe(0);
  expect(machine.growth.skipped()).toBe(true);
});

test('growth counts since the last eviction, and since the first where the budget is used up', () => {
  const machine = new Machine();
  machine.evict(0, 10n);
  machine.evict(600, 30n);
  expect(machine.reads).toBe(2);
  expect(machine.grownMib('no-yield', 35n)).toBe(5n);
  expect(machine.grownMib('budget-exhausted', 35n)).toBe(25n);
});

test('the first eviction is one of the last ten minutes', () => {
  const machine = new Machine();
  machine.evict(0, 10n);
  machine.evict(601, 30n);
  expect(machine.grownMib('budget-exhausted', 35n)).toBe(5n);
});

test('what is a workload, or above one, does not count as outside', () => {
  const machine = new Machine();
  machine.evict(0, 0n);
  expect(['/apps', '/apps/job', '/apps/job/inner', '/apps/beside'].map((path) => machine.placeOf(path))).toEqual([
    'above',
    'workload',
    'workload',
    'outside',
  ]);
});
