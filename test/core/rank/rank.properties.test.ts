import { fc } from '../../support/property.js';
import { describe, expect, test } from 'vitest';
import { departuresOf, type Compatibility } from '../../../src/core/decide/departures.js';
import type { Layout } from '../../../src/core/signal/layout.js';
import { byRank, rank, type RankedWorkload } from '../../../src/core/rank/rank.js';
import { RESOURCE_SIGNALS, type ResourceSignal } from '../../../src/core/signal/signal.js';
import type { WorkloadUsage } from '../../../src/core/workload/workload.js';
import { containerStats, files, pod } from '../usage.js';

/** Few values, so that many are equal; and the largest that there may be. */
const amount = fc.oneof(fc.bigInt(0n, 3n), fc.constant(2n ** 63n - 1n));
const maybe = fc.option(amount, { nil: undefined });
const priority = fc.oneof(fc.integer({ min: -2, max: 2 }), fc.constantFrom(-(2 ** 31), 2 ** 31 - 1));

interface Drawn {
  readonly name: string;
  readonly priority: number;
  readonly request: bigint;
  readonly startOrder: bigint;
  readonly used: bigint | undefined;
  readonly hasStats: boolean;
  readonly avoid: boolean;
}

const drawn = fc.record({
  name: fc.constantFrom('a', 'b'), // names need not be unique: ids are
  priority,
  request: amount,
  startOrder: fc.bigInt(0n, 1n),
  used: maybe,
  hasStats: fc.boolean(),
  avoid: fc.boolean(),
});

function usageOf(given: Drawn, index: number): WorkloadUsage {
  const { used, request } = given;
  const stats = {
    workingSetBytes: used,
    processes: used,
    containers: [containerStats('c', { rootfs: files(used, used), logs: files(used, used) })],
    images: files(used, used),
  };
  return pod(given.name, {
    id: String(index),
    priority: given.priority,
    startOrder: given.startOrder,
    ...(given.avoid && { avoid: true }),
    requests: { memory: request, ephemeralStorage: request },
    stats: given.hasStats ? stats : null,
  });
}

const workloads = fc.array(drawn, { minLength: 1, maxLength: 12 });
const place = fc.record({
  signal: fc.constantFrom<ResourceSignal>(...RESOURCE_SIGNALS),
  layout: fc.constantFrom<Layout>('single', 'imagefs', 'split'),
});

const idsOf = (ranked: readonly RankedWorkload[]): string[] => ranked.map(({ workload }) => workload.id);

describe.each<Compatibility>(['evictd', 'kubelet'])('%s', (compatibility) => {
  const departures = departuresOf(compatibility);

  test('the comparison is antisymmetric and transitive', () => {
    fc.assert(
      fc.property(place, fc.tuple(drawn, drawn, drawn), ({ signal, layout }, three) => {
        const compare = byRank(signal, layout, departures);
        const ranked = rank(signal, layout, three.map(usageOf), departures);
        for (const a of ranked) {
          for (const b of ranked) {
            expect(Math.sign(compare(a, b)) + Math.sign(compare(b, a))).toBe(0);
            for (const c of ranked) if (compare(a, b) <= 0 && compare(b, c) <= 0) expect(compare(a, c)).toBeLessThanOrEqual(0);
          }
        }
      }),
    );
  });

  test('more usage never moves a workload later', () => {
    fc.assert(
      fc.property(place, workloads, fc.nat(), fc.bigInt(0n, 5n), ({ signal, layout }, all, pick, more) => {
        const chosen = pick % all.length;
        const grown = all.map((given, index) =>
          index === chosen && given.used !== undefined ? { ...given, used: given.used + more } : given,
        );
        const at = (list: readonly Drawn[]): number => idsOf(rank(signal, layout, list.map(usageOf), departures)).indexOf(String(chosen));
        expect(at(grown)).toBeLessThanOrEqual(at(all));
      }),
    );
  });

  test('raising a priority never moves a workload earlier', () => {
    fc.assert(
      fc.property(place, workloads, fc.nat(), ({ signal, layout }, all, pick) => {
        const chosen = pick % all.length;
        const raised = all.map((given, index) => (index === chosen ? { ...given, priority: given.priority + 1 } : given));
        const at = (list: readonly Drawn[]): number => idsOf(rank(signal, layout, list.map(usageOf), departures)).indexOf(String(chosen));
        expect(at(raised)).toBeGreaterThanOrEqual(at(all));
      }),
    );
  });
});

test('in the profile evictd the ranking is total: it does not depend on the order of the input', () => {
  const departures = departuresOf('evictd');
  fc.assert(
    fc.property(place, workloads, fc.infiniteStream(fc.nat()), ({ signal, layout }, all, keys) => {
      const usages = all.map(usageOf);
      const shuffled = usages
        .map((usage) => ({ usage, key: keys.next().value as number }))
        .sort((a, b) => a.key - b.key)
        .map(({ usage }) => usage);
      expect(idsOf(rank(signal, layout, shuffled, departures))).toEqual(idsOf(rank(signal, layout, usages, departures)));
    }),
  );
});
