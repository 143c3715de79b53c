import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Decision } from '../../src/core/decide/eviction.js';
import { initialState, type Policy } from '../../src/core/decide/state.js';
import { StandingOrders, type OrderedPass } from '../../src/monitor/standing-orders.js';
import type { FoundOrder } from '../../src/journal/order-file.js';
import type { OrderPlan, OrderResult, StandingOrder } from '../../src/monitor/ports/standing-order.js';
import type { Protection, Workload } from '../../src/core/workload/workload.js';
import { stepOn } from '../../src/monitor/step-answers.js';
import { candidates, Mi, observations, policy, requesting, threshold, workload } from '../core/support.js';

const hard = threshold('memory.available', '100Mi');
const three = candidates(
  [workload('web'), 50n * Mi],
  [workload('batch', { requests: requesting(10n * Mi) }), 300n * Mi],
  [workload('job'), 200n * Mi],
);

const CARRIED_OUT: OrderResult = {
  candidate: 0,
  node: 1_000,
  value: 400,
  crossedAtNs: 5n,
  atNs: 9n,
  error: undefined,
  unrecorded: undefined,
};

/** The native layer and the files, played. */
function orders(afterNs = 5_000_000n, found?: Decision, inFile?: FoundOrder) {
  const said: string[] = [];
  const records: unknown[] = [];
  const prepared: string[] = [];
  let result: OrderResult | undefined;
  let plan: OrderPlan | undefined;
  let answer: ReturnType<StandingOrder['place']> = 'placed';
  let limit = 64 * 1024;
  const order: StandingOrder = {
    onCarriedOut: () => undefined,
    place: (next) => {
      if (result) return 'carried out';
      plan = answer === 'placed' ? next : undefined;
      said.push(answer === 'placed' ? 'place' : 'none');
      return answer;
    },
    withdraw: () => {
      if (result) return false;
      plan = undefined;
      said.push('withdraw');
      return true;
    },
    seen: () => said.push('seen'),
    postpone: (untilNs) => said.push(`postpone ${String(untilNs)}`),
    take: () => {
      const taken = result;
      result = undefined;
      return taken;
    },
    close: () => said.push('close'),
  };
  const all = new StandingOrders(
    {
      order,
      file: {
        bytesOf: (record) => (JSON.stringify(record).length > limit ? undefined : Buffer.from(JSON.stringify(record))),
        clear: () => said.push('clear'),
        found: inFile,
      },
      found,
      journal: { line: (record) => JSON.stringify(record), record: (record) => records.push(record) },
      keeper: { text: ({ evictions }) => `state with ${evictions.map(({ decision }) => decision.victim.workload.name).join()}` },
      node: { crossing: () => [{ value: {}, atLeast: 1_000 }] },
      reporter: { orderFailed: (outcome) => said.push(`failed ${outcome}`), prepared: ({ victim }) => prepared.push(victim.workload.name) },
    },
    afterNs,
  );
  return {
    all,
    said,
    records,
    prepared,
    plan: () => plan,
    carryOut: (by: Partial<OrderResult> = {}) => {
      result = { ...CARRIED_OUT, ...by };
      plan = undefined;
    },
    answer: (next: typeof answer) => (answer = next),
    shorten: () => (limit = 10),
  };
}

const pass = (by: Partial<OrderedPass> = {}): OrderedPass => ({
  observations: observations(process.hrtime.bigint(), { 'memory.available': 150n * Mi }),
  layout: 'single',
  candidates: () => three,
  passNs: 1n,
  hasChanged: true,
  ...by,
});
const far = { observations: observations(1n, { 'memory.available': 900n * Mi }) };
const always: Policy = policy([hard]);

describe('a standing order', () => {
  test('exists while the value is near the threshold, with the comparison of each candidate and its record', () => {
    const { all, plan, prepared } = orders();
    all.follow(always, initialState, pass());
    expect(prepared).toEqual(['batch']); // metrics have its ranking
    expect(plan()?.candidates.map(({ workload: { name }, offset }) => [name, offset])).toEqual([
      ['batch', -10 * Number(Mi)],
      ['job', 0],
      ['web', 0],
    ]);
    expect(plan()).toMatchObject({ afterNs: 5_000_000n });
    expect(plan()?.unexplainedNs).toBeGreaterThan(50_000_000n);
    expect(plan()?.unexplainedNs).toBeLessThanOrEqual(100_000_000n);
    const record = JSON.parse(String(plan()?.candidates[0]?.record)) as { line: string; state: string };
    expect(JSON.parse(record.line)).toMatchObject({
      type: 'decision',
      decision: 1,
      victim: { name: 'batch' },
      ranking: [{ name: 'batch' }, { name: 'job' }, { name: 'web' }],
      wake: 'standing_order',
    });
    expect(record).toMatchObject({ state: 'state with batch', atLeast: 1_000, limit: String(100n * Mi) });
    expect(all.stands).toBe(true);
    expect(all.dueNs).toBeGreaterThan(process.hrtime.bigint());
  });

  test.each<[why: string, of: Policy, given: Partial<OrderedPass>, afterNs?: bigint]>([
    ['the threshold is far', always, far],
    ['a dry run', policy([hard], { dryRun: true }), {}],
    ['no workload source', policy([hard], { hasWorkloadSource: false }), {}],
    ['no evictable workload', always, { candidates: () => candidates() }],
    ['the filesystem layout is not known', always, { layout: { error: 'not read yet' } }],
    ['disabled', always, {}, 0n],
  ])('does not exist with %s', (_why, of, given, afterNs) => {
    const { all, said } = orders();
    all.follow(always, initialState, pass());
    if (afterNs !== undefined) all.afterNs = afterNs;
    const rested = { ...pass(given), hasChanged: true };
    all.follow(of, initialState, rested);
    expect(said).toEqual(['place', 'withdraw']);
    expect(all.stands).toBe(false);
  });

  test('does not exist if a record is too long, or a candidate cannot be opened', () => {
    const long = orders();
    long.shorten();
    long.all.follow(always, initialState, pass());
    expect(long.all.stands).toBe(false);
    const refused = orders();
    refused.answer('ended');
    refused.all.follow(always, initialState, pass());
    expect([refused.all.stands, refused.said]).toEqual([false, ['none']]);
  });

  test('that cannot exist is reported once, and again after one that could', () => {
    const { all, said, answer } = orders();
    for (const next of [{ impossible: 'EMFILE' }, { impossible: 'EMFILE' }, 'placed', { impossible: 'EMFILE' }] as const) {
      answer(next);
      all.follow(always, initialState, pass());
    }
    expect(said).toEqual(['none', 'failed impossible', 'none', 'place', 'none', 'failed impossible']);
    expect(all.stands).toBe(false);
  });

  test('near the threshold is explained only by more growth than the statistics may be wrong by', () => {
    const { all, plan } = orders();
    all.follow(always, initialState, pass({ observations: observations(process.hrtime.bigint(), { 'memory.available': 101n * Mi }) }));
    expect(plan()?.missing).toBe(8 * Number(Mi));
    all.follow(always, initialState, pass());
    expect(plan()?.missing).toBe(42 * Number(Mi));
  });

  test('is kept by a pass in which nothing happened, and replaced by one after a change', () => {
    const { all, said } = orders();
    all.follow(always, initialState, pass());
    all.follow(always, initialState, pass({ hasChanged: false }));
    all.follow(always, initialState, pass());
    expect(said).toEqual(['place', 'seen', 'place']);
  });

  test('is withdrawn at a change after eight expensive ones in a row, until they are paid for', () => {
    const cost = vi.spyOn(process, 'cpuUsage').mockReturnValue({ user: 900_000, system: 100_000 });
    onTestFinished(() => {
      cost.mockRestore();
    });
    const { all, said } = orders();
    for (let each = 1; each <= 9; each += 1) all.follow(always, initialState, pass());
    expect(said).toEqual([...Array<string>(8).fill('place'), 'withdraw']);
    expect(all.dueNs).toBeGreaterThan(process.hrtime.bigint() + 40_000_000_000n);
  });

  test('is tried again after a second while no workload is known', () => {
    const { all } = orders();
    const before = process.hrtime.bigint();
    all.follow(always, initialState, pass({ candidates: () => candidates() }));
    const known = orders();
    known.all.follow(always, initialState, pass());
    expect(all.dueNs).toBeGreaterThanOrEqual(before + 1_000_000_000n);
    expect(all.dueNs).toBeLessThan((known.all.dueNs ?? 0n) - 3_000_000_000n);
  });

  test.each<[kind: 'changed' | 'removed' | 'vacant', stands: boolean]>([
    ['changed', false],
    ['removed', true],
    ['vacant', true],
  ])('made while a workload became %s stands: %s', (kind, stands) => {
    const { all, said } = orders();
    const before = process.hrtime.bigint();
    const veto = ({ name }: Workload): Protection | undefined => (said.length > 0 && name === 'job' ? { kind } : undefined);
    all.follow(always, initialState, pass({ candidates: () => ({ ...three, veto }) }));
    expect(said).toEqual(stands ? ['place'] : ['place', 'withdraw']);
    expect(all.stands).toBe(stands);
    if (!stands) expect(all.dueNs).toBeLessThan(before + 3_000_000_000n);
  });

  test('is renewed as soon as there is time after the value has fallen', () => {
    const { all, said } = orders();
    all.follow(always, initialState, pass());
    const dueNs = all.dueNs ?? 0n;
    all.follow(always, initialState, pass({ hasChanged: false }));
    expect(all.dueNs).toBe(dueNs);
    const fallen = observations(process.hrtime.bigint(), { 'memory.available': 130n * Mi });
    all.follow(always, initialState, pass({ hasChanged: false, observations: fallen }));
    expect(all.dueNs).toBeLessThan(dueNs);
    expect(said).not.toContain('withdraw');
  });

  test('waits longer in the native layer, too, while the loop waits on purpose', () => {
    const { all, said } = orders();
    all.postpone(7n);
    expect(said).toEqual([]);
    all.follow(always, initialState, pass());
    all.postpone(7n);
    expect(said.at(-1)).toBe('postpone 5000007');
    all.close();
    expect(said.slice(-2)).toEqual(['withdraw', 'close']);
  });
});

describe('a standing order that was carried out', () => {
  test('is a decision with the values at that moment, until it is adopted', () => {
    const { all, said, carryOut } = orders();
    all.follow(always, initialState, pass());
    carryOut({ candidate: 1, node: 1_000 + 4096, value: 5 });
    const ordered = all.take();
    expect(ordered).toMatchObject({
      serial: 1,
      victim: { workload: { name: 'job' }, usage: 5n },
      cause: { observation: { available: 100n * Mi - 1n - 4096n } },
      standingOrder: { crossedAtNs: 5n, signalledAtNs: 9n },
    });
    expect(all.take()).toBe(ordered);
    expect(all.withdraw()).toBe(false);
    all.follow(always, initialState, pass());
    expect(all.stands).toBe(false); // no other one before
    all.adopted();
    expect(said.at(-1)).toBe('clear');
    expect(all.take()).toBeUndefined();
    expect(all.withdraw()).toBe(true);
  });

  test('by an earlier evictd is adopted first, and no other order exists before', () => {
    const first = orders();
    first.all.follow(always, initialState, pass());
    first.carryOut();
    const found = first.all.take();
    const { all, said } = orders(undefined, found);
    all.follow(always, initialState, pass());
    expect(said).toEqual([]);
    expect(all.take()).toBe(found);
    expect(all.withdraw()).toBe(false);
    all.adopted();
    all.follow(always, initialState, pass());
    expect(said).toEqual(['clear', 'place']);
  });

  test('by an earlier evictd that does not continue stays recorded until a pass has saved the state', () => {
    const inFile = { line: '{}', state: '{}', atLeast: 0, limit: '0', crossedAtNs: 5n, decidedAtNs: 8n, node: 0, value: 0 };
    const { all, said } = orders(undefined, undefined, inFile);
    expect(all.withdraw()).toBe(true);
    expect([said, all.take()]).toEqual([[], undefined]);
    all.follow(always, initialState, pass(far));
    all.follow(always, initialState, pass());
    expect(said).toEqual(['clear', 'place']);
  });

  test('is seen when the order is withdrawn, renewed or closed', () => {
    for (const act of [
      (all: StandingOrders) => all.withdraw(),
      (all: StandingOrders) => {
        all.follow(always, initialState, pass(far));
      },
    ]) {
      const { all, carryOut } = orders();
      all.follow(always, initialState, pass());
      carryOut();
      act(all);
      expect(all.take()?.victim.workload.name).toBe('batch');
    }
  });

  test.each<[outcome: string, by: Partial<OrderResult>, record: object]>([
    [
      'refused',
      { error: 'EPERM: not permitted' },
      { type: 'standing-order', result: 'refused', victim: { name: 'batch' }, error: 'EPERM: not permitted' },
    ],
    ['outdated', { candidate: undefined }, { type: 'standing-order', result: 'outdated' }],
  ])('is reported as %s, and the loop decides itself', (outcome, by, record) => {
    const { all, said, records, carryOut } = orders();
    all.follow(always, initialState, pass());
    carryOut(by);
    expect(all.take()).toBeUndefined();
    expect(records).toMatchObject([record]);
    expect(said.slice(-2)).toEqual([`failed ${outcome}`, 'clear']);
    expect(all.withdraw()).toBe(true);
  });

  test('gives way to the next one if it is out of date, and is reported', () => {
    const { all, said, carryOut } = orders();
    all.follow(always, initialState, pass());
    carryOut({ candidate: undefined });
    all.follow(always, initialState, pass());
    expect(said).toEqual(['place', 'failed outdated', 'clear', 'place']);
    expect(all.stands).toBe(true);
  });

  test('counts although its record could not be written, which is reported', () => {
    const { all, said, carryOut } = orders();
    all.follow(always, initialState, pass());
    carryOut({ unrecorded: 'ENOSPC' });
    expect(all.take()?.victim.workload.name).toBe('batch');
    expect(said.at(-1)).toBe('failed unrecorded');
  });
});

describe('a step with a standing order', () => {
  const short = observations(process.hrtime.bigint(), { 'memory.available': 50n * Mi });
  const readings = { layout: 'single', observe: () => short, victims: new Map(), reclaimed: undefined } as const;
  const evictedIn = (all: Pick<StandingOrders, 'take' | 'withdraw'>) => {
    const { result, given } = stepOn(always, initialState, readings, {
      wake: { source: 'tick' },
      bootNs: () => 0n,
      node: { read: () => short },
      candidates: () => three,
      orders: all,
    });
    const evicted = result.effects.flatMap((effect) => (effect.kind === 'evict' ? [effect.decision] : []));
    return { evicted: evicted.map(({ victim, standingOrder }) => [victim.workload.name, standingOrder !== undefined]), given };
  };

  test('withdraws the order before its own signal', () => {
    const { all, said } = orders();
    all.follow(always, initialState, pass());
    expect(evictedIn(all).evicted).toEqual([['batch', false]]);
    expect(said.at(-1)).toBe('withdraw');
  });

  test('is repeated with an order that is carried out while it decides, for one victim', () => {
    const { all, carryOut } = orders();
    all.follow(always, initialState, pass());
    const meanwhile: Pick<StandingOrders, 'take' | 'withdraw'> = {
      take: () => all.take(),
      withdraw: () => {
        carryOut({ candidate: 1 });
        return all.withdraw();
      },
    };
    const { evicted, given } = evictedIn(meanwhile);
    expect(evicted).toEqual([['job', true]]);
    expect(given.candidates).toEqual([]); // of the step that counts
  });

  test('has an order that was carried out before as its input, for one victim', () => {
    const { all, carryOut } = orders();
    all.follow(always, initialState, pass());
    carryOut();
    expect(evictedIn(all).evicted).toEqual([['batch', true]]);
  });
});
