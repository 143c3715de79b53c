import { fc } from '../../support/property.js';
import { describe, expect, test } from 'vitest';
import { badnessPages } from '../../../src/core/oom/oom-badness.js';
import { oomScoreAdjsByRank, type OomPlace, type OomProcess, type OomScoreAdjs } from '../../../src/core/oom/oom-order.js';

const MIB = 1n << 20n;
const GIB = 1n << 30n;
/** A thousandth of it is a MiB. */
const ALL = 1000n * MIB;

const holding = (sizeBytes: bigint, foundAdj = 0): OomProcess => ({ sizeBytes, foundAdj });
const place = (id: string, ...processes: OomProcess[]): OomPlace => ({ id, processes });
const valuesOf = ({ values }: OomScoreAdjs): Record<string, number> => Object.fromEntries(values);

/** oom_badness, as the kernel does it: pages, and all memory divided by 1000 first. */
function badness({ sizeBytes, foundAdj }: OomProcess, value: number, totalBytes: bigint): bigint {
  const memory = { rssBytes: sizeBytes, swapBytes: 0n, pageTableBytes: 0n };
  return badnessPages(memory, Math.max(value, foundAdj), totalBytes / 4096n, 4096n);
}

/** Workloads in the order in which the kernel would hit them, when each has been given its value. */
function kernelOrder(order: readonly OomPlace[], { values }: OomScoreAdjs, totalBytes: bigint): string[] {
  const hits = order.flatMap(({ id, processes }) =>
    processes
      .filter(({ foundAdj }) => foundAdj > -1000)
      .map((process) => ({ id, points: badness(process, values.get(id) ?? process.foundAdj, totalBytes) })),
  );
  hits.sort((a, b) => (a.points > b.points ? -1 : a.points < b.points ? 1 : 0));
  return [...new Set(hits.map(({ id }) => id))];
}

describe('oom_score_adj by rank', () => {
  test.each<[rule: string, order: OomPlace[], total: bigint, values: Record<string, number>, outOfPlace: string[]]>([
    ['the first place has the highest value', [place('a', holding(MIB))], ALL, { a: 1000 }, []],
    ['no workload gets no value', [], ALL, {}, []],
    ['memory of less than a thousand pages: no order is known', [place('a', holding(MIB))], 3n * MIB, {}, []],
    ['a workload without processes gets none', [place('a'), place('b', holding(MIB))], ALL, { b: 1000 }, []],
    [
      'a workload whose processes are all exempt gets no value',
      [place('a', holding(MIB, -1000)), place('b', holding(MIB))],
      ALL,
      { b: 1000 },
      [],
    ],
    [
      'four fifths of the distance to three quarters of all memory lie behind the first place',
      [place('a', holding(0n)), place('b', holding(0n))],
      ALL,
      { a: 1000, b: 800 },
      [],
    ],
    [
      'a larger workload that ranks behind a smaller one is moved further down',
      [place('a', holding(0n)), place('b', holding(250n * MIB))],
      ALL,
      { a: 1000, b: 550 },
      [],
    ],
    [
      'a found value above is kept in mind: the process has it anyway',
      [place('a', holding(0n)), place('b', holding(0n, 900)), place('c', holding(0n))],
      ALL,
      { a: 1000, b: 900, c: 875 },
      [],
    ],
    [
      'a larger workload whose value is already that of the first place is out of place, and keeps it',
      [place('a', holding(0n)), place('b', holding(MIB * 100n, 1000)), place('c', holding(0n))],
      ALL,
      { a: 1000, b: 1000, c: 800 },
      ['b'],
    ],
    [
      'the largest of several processes counts',
      [place('a', holding(0n)), place('b', holding(0n), holding(250n * MIB), holding(MIB))],
      ALL,
      { a: 1000, b: 550 },
      [],
    ],
  ])('%s', (_rule, order, total, values, outOfPlace) => {
    const got = oomScoreAdjsByRank(order, total);
    expect(valuesOf(got)).toEqual(values);
    expect(got.outOfPlace).toEqual(outOfPlace);
  });

  test('the last place is above a protected process of nine tenths of all memory', () => {
    const order = ['a', 'b', 'c'].map((id) => place(id, holding(MIB)));
    const db = holding((GIB * 9n) / 10n);
    const got = oomScoreAdjsByRank(order, GIB, [db]);
    expect(kernelOrder([...order, place('db', db)], got, GIB)).toEqual(['a', 'b', 'c', 'db']);
    expect(kernelOrder([...order, place('db', db)], oomScoreAdjsByRank(order, GIB), GIB)).not.toEqual(['a', 'b', 'c', 'db']);
  });

  test('a protected process that no value can outrank does not spoil the order of the others', () => {
    const order = ['a', 'b'].map((id) => place(id, holding(MIB)));
    expect(oomScoreAdjsByRank(order, GIB, [holding(GIB, 1000)]).outOfPlace).toEqual([]);
  });

  test('values given before are kept while sizes change a little, and are replaced when the order is nearly lost', () => {
    const order = (b: bigint): OomPlace[] => [place('a', holding(MIB)), place('b', holding(b)), place('c', holding(MIB))];
    const first = oomScoreAdjsByRank(order(MIB), GIB);
    const little = oomScoreAdjsByRank(order(30n * MIB), GIB, [], first.values);
    expect(valuesOf(little)).toEqual(valuesOf(first));
    const much = oomScoreAdjsByRank(order(400n * MIB), GIB, [], first.values);
    expect(valuesOf(much)).not.toEqual(valuesOf(first));
    expect(kernelOrder(order(400n * MIB), much, GIB)).toEqual(['a', 'b', 'c']);
  });

  test.each<[rule: string, change: (order: OomPlace[]) => OomPlace[]]>([
    ['two places are exchanged', ([a, b, ...rest]) => [b, a, ...rest].filter((each) => each !== undefined)],
    ['a workload is new', (order) => [...order, place('new', holding(MIB))]],
    ['the first has gone', (order) => order.slice(1)],
  ])('values given before are replaced when %s', (_rule, change) => {
    const order = ['a', 'b', 'c'].map((id) => place(id, holding(MIB)));
    const before = oomScoreAdjsByRank(order, GIB).values;
    const now = change(order);
    expect(kernelOrder(now, oomScoreAdjsByRank(now, GIB, [], before), GIB)).toEqual(now.map(({ id }) => id));
  });
});

const TOTAL = 16n * GIB;
const process = fc.record({
  sizeBytes: fc.bigInt(0n, (TOTAL * 8n) / 10n / 4096n).map((pages) => pages * 4096n),
  foundAdj: fc.oneof({ weight: 8, arbitrary: fc.constant(0) }, fc.integer({ min: -1000, max: 1000 })),
});
const orderOf = (each: fc.Arbitrary<OomProcess>, maxLength: number): fc.Arbitrary<OomPlace[]> =>
  fc
    .array(fc.array(each, { minLength: 1, maxLength: 4 }), { maxLength })
    .map((workloads) => workloads.map((processes, index) => place(`w${String(index)}`, ...processes)));
const anyOrder = orderOf(process, 30);
const others = fc.array(process, { maxLength: 3 });

describe('properties of the values', () => {
  test('the kernel kills workloads that are in place in the given order, for any sizes and values', () => {
    fc.assert(
      fc.property(anyOrder, others, (order, protectedOnes) => {
        const got = oomScoreAdjsByRank(order, TOTAL, protectedOnes);
        const inPlace = order.filter(({ id }) => got.values.has(id) && !got.outOfPlace.includes(id));
        expect(kernelOrder(inPlace, got, TOTAL)).toEqual(inPlace.map(({ id }) => id));
      }),
    );
  });

  test('the first place gets 1000, values are between the lowest found and 1000, and every killable workload has one', () => {
    fc.assert(
      fc.property(anyOrder, others, (order, protectedOnes) => {
        const { values } = oomScoreAdjsByRank(order, TOTAL, protectedOnes);
        const killable = order
          .map(({ id, processes }) => ({ id, found: processes.map(({ foundAdj }) => foundAdj).filter((adj) => adj > -1000) }))
          .filter(({ found }) => found.length > 0);
        expect([...values.keys()]).toEqual(killable.map(({ id }) => id));
        expect([...values.values()].slice(0, 1)).toEqual(killable.slice(0, 1).map(() => 1000));
        for (const { id, found } of killable) {
          const value = values.get(id) ?? NaN;
          expect(Number.isInteger(value) && value >= Math.min(...found) && value <= 1000).toBe(true);
        }
      }),
    );
  });

  test('a workload out of place keeps the value that was found, and has more points than the one before it', () => {
    fc.assert(
      fc.property(anyOrder, (order) => {
        const got = oomScoreAdjsByRank(order, TOTAL);
        const most = ({ processes }: OomPlace, value: number): bigint =>
          processes
            .filter(({ foundAdj }) => foundAdj > -1000)
            .map((each) => badness(each, value, TOTAL))
            .reduce((a, b) => (a > b ? a : b));
        for (const [index, outsider] of order.entries()) {
          if (!got.outOfPlace.includes(outsider.id)) continue;
          const found = outsider.processes.map(({ foundAdj }) => foundAdj).filter((adj) => adj > -1000);
          expect(got.values.get(outsider.id)).toBe(Math.min(...found));
          const before = order.slice(0, index).filter(({ id }) => got.values.has(id) && !got.outOfPlace.includes(id));
          const least = before.map((each) => most(each, got.values.get(each.id) ?? 0)).reduce((a, b) => (a < b ? a : b));
          expect(most(outsider, -1000) > least - TOTAL / 4096n / 1000n).toBe(true); // the least distance
        }
      }),
    );
  });

  test('200 workloads of at most half of the memory, all with value 0, are all in place', () => {
    const modest = fc.record({ sizeBytes: fc.bigInt(0n, TOTAL / 2n / 4096n).map((pages) => pages * 4096n), foundAdj: fc.constant(0) });
    fc.assert(
      fc.property(orderOf(modest, 200), (order) => {
        const got = oomScoreAdjsByRank(order, TOTAL);
        expect(got.outOfPlace).toEqual([]);
        expect(kernelOrder(order, got, TOTAL)).toEqual(order.map(({ id }) => id));
      }),
      { numRuns: 30 },
    );
  });

  test('computing the values again changes nothing', () => {
    fc.assert(
      fc.property(anyOrder, others, (order, protectedOnes) => {
        const first = oomScoreAdjsByRank(order, TOTAL, protectedOnes);
        expect(valuesOf(oomScoreAdjsByRank(order, TOTAL, protectedOnes, first.values))).toEqual(valuesOf(first));
      }),
    );
  });
});
