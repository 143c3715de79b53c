import { expect, test } from 'vitest';
import { allocate } from '../../../src/core/devices/allocate.js';
import { deviceId, type Device, type PublishedDevice } from '../../../src/core/devices/device.js';
import type { ClaimSpec, DeviceRequest, ExactRequest } from '../../../src/core/devices/resource-claim.js';
import { fc } from '../../support/property.js';
import { claim, consumes, counters, device, exact, node, ofModel, slice, spec, supply } from './claim-support.js';

// Small clusters: two pools of one node, of which the first has a counter; up to two claims of a pod.

const TAINT = { key: 'bad', value: '', effect: 'NoSchedule' } as const;

const someDevice = fc
  .record({
    model: fc.option(fc.constantFrom('x', 'y'), { nil: undefined }),
    tainted: fc.boolean(),
    memory: fc.integer({ min: 0, max: 2 }),
  })
  .map(({ model, tainted, memory }): Partial<Device> & { memory: number; model?: string } => ({
    memory,
    ...(model !== undefined && { model }),
    taints: tainted ? [TAINT] : [],
  }));

const someExact = fc
  .record({
    count: fc.constantFrom<(1 | 2 | 'all')[]>(1, 1, 2, 'all'),
    adminAccess: fc.boolean(),
    model: fc.option(fc.constantFrom('x', 'y'), { nil: undefined }),
    tolerates: fc.boolean(),
  })
  .map(({ count, adminAccess, model, tolerates }) =>
    exact({
      count,
      adminAccess,
      selectors: model === undefined ? [] : [ofModel(model)],
      tolerations: tolerates ? [{ key: '', operator: 'Exists', value: '', effect: '' }] : [],
    }),
  );

const someRequest = (name: string): fc.Arbitrary<DeviceRequest> =>
  fc.oneof(
    someExact.map((exactly): DeviceRequest => ({ kind: 'exactly', name, exactly })),
    fc.tuple(someExact, someExact).map(([one, two]): DeviceRequest => {
      const subs = [one, two].map((each, index) => ({ ...each, adminAccess: false, name: `s${String(index)}` }));
      return { kind: 'firstAvailable', name, firstAvailable: subs };
    }),
  );

const someConstraint = fc.record({
  kind: fc.constantFrom('matchAttribute' as const, 'distinctAttribute' as const),
  attribute: fc.constant('gpu.example.com/model'),
  requests: fc.constantFrom([], ['r0'], ['r0', 'r1'], ['r0/s0', 'r1']),
});

const someSpec = fc
  .record({
    requests: fc.oneof(fc.tuple(someRequest('r0')), fc.tuple(someRequest('r0'), someRequest('r1'))),
    constraints: fc.array(someConstraint, { maxLength: 2 }),
  })
  .map(({ requests, constraints }) => spec(requests, { constraints }));

const someCluster = fc.record({
  first: fc.array(someDevice, { minLength: 1, maxLength: 3 }),
  second: fc.array(someDevice, { maxLength: 2 }),
  memory: fc.integer({ min: 0, max: 4 }),
  used: fc.array(fc.integer({ min: 0, max: 2 }), { maxLength: 1 }),
  specs: fc.array(someSpec, { minLength: 1, maxLength: 2 }),
});

interface Picked {
  readonly claim: number;
  readonly name: string;
  readonly request: ExactRequest;
  readonly devices: readonly PublishedDevice[];
}

/** All sets of `count` devices, in the order of their places. */
function combinations<T>(of: readonly T[], count: number): readonly (readonly T[])[] {
  if (count === 0) return [[]];
  return of.flatMap((first, index) => combinations(of.slice(index + 1), count - 1).map((rest) => [first, ...rest]));
}

/** All answers to the claims, good and bad, in the order in which they are preferred. */
function* answers(specs: readonly ClaimSpec[], devices: readonly PublishedDevice[]): Generator<readonly Picked[]> {
  const slots = specs.flatMap(({ requests }, index) =>
    requests.map((request) => ({
      claim: index,
      options:
        request.kind === 'exactly'
          ? [[request.name, request.exactly] as const]
          : request.firstAvailable.map((sub) => [`${request.name}/${sub.name}`, sub] as const),
    })),
  );
  function* from(place: number): Generator<readonly Picked[]> {
    const slot = slots[place];
    if (slot === undefined) {
      yield [];
      return;
    }
    for (const [name, request] of slot.options) {
      const matching = devices.filter((each) => request.selectors.every((selector) => selector(each)));
      const sets = request.count !== 'all' ? combinations(matching, request.count) : matching.length === 0 ? [] : [matching];
      for (const chosen of sets) for (const rest of from(place + 1)) yield [{ claim: slot.claim, name, request, devices: chosen }, ...rest];
    }
  }
  yield* from(0);
}

const modelOf = ({ device: { attributes } }: PublishedDevice): unknown => attributes.get('model')?.value;

/** The rules, judged on a finished answer. */
function isAllowed(
  answer: readonly Picked[],
  specs: readonly ClaimSpec[],
  used: ReadonlySet<string>,
  memory: bigint,
  memoryOfUsed: bigint,
): boolean {
  const flat = answer.flatMap((picked) => picked.devices.map((published) => ({ ...picked, published, id: published.id })));
  const isTwice = flat.some(({ id, claim: of, request }, index) =>
    flat.slice(0, index).some((earlier) => earlier.id === id && (!request.adminAccess || earlier.claim === of)),
  );
  const isUsed = flat.some(({ id, request }) => !request.adminAccess && used.has(id));
  const isTainted = flat.some(({ published, request }) => published.device.taints.length > 0 && request.tolerations.length === 0);
  const consumers = flat.filter(({ published }) => published.device.consumesCounters.length > 0);
  const wanted = consumers.reduce(
    (sum, { published }) => sum + (published.device.consumesCounters[0]?.counters.get('memory') ?? 0n),
    memoryOfUsed,
  );
  const isBroken = specs.some(({ constraints }, index) =>
    constraints.some(({ kind, requests }) => {
      const models = flat
        .filter(
          ({ claim: of, name }) =>
            of === index && (requests.length === 0 || requests.includes(name) || requests.includes(name.split('/')[0] ?? '')),
        )
        .map(({ published }) => modelOf(published));
      const distinct = new Set(models).size;
      return models.includes(undefined) || (kind === 'matchAttribute' ? distinct > 1 : distinct < models.length);
    }),
  );
  return !isTwice && !isUsed && !isTainted && (consumers.length === 0 || wanted <= memory) && !isBroken;
}

test('the allocator finds the first answer that keeps all rules, and only if there is one', () => {
  const kinds = new Set<string>();
  fc.assert(
    fc.property(someCluster, ({ first, second, memory, used, specs }) => {
      const card = slice([], { name: 'a', slices: 2n, sharedCounters: [{ name: 'card', counters: counters({ memory: BigInt(memory) }) }] });
      const parts = first.map(({ memory: wanted, ...more }, index) =>
        device(`d${String(index)}`, { ...more, consumesCounters: wanted === 0 ? [] : consumes({ memory: BigInt(wanted) }) }),
      );
      const slices = [
        card,
        slice(parts, { name: 'b', slices: 2n }),
        slice(
          second.map((more, index) => device(`e${String(index)}`, more)),
          { poolName: 'pool-2' },
        ),
      ];
      const inUse = new Set(used.flatMap((index) => (index < parts.length ? [`gpu.example.com/pool-1/d${String(index)}`] : [])));
      const memoryOfUsed = used.reduce((sum, index) => sum + (parts[index]?.consumesCounters[0]?.counters.get('memory') ?? 0n), 0n);
      const outcome = allocate(
        specs.map((each, index) => claim(`c${String(index)}`, each)),
        supply(slices, [...inUse]),
        node(),
      );
      kinds.add(outcome.kind);
      if (outcome.kind === 'error') {
        // Mode All against a constraint ends the search, as in Kubernetes.
        expect(outcome.message).toContain('because a claim constraint would not be satisfied');
        return;
      }
      const published = slices.flatMap((each) =>
        each.devices.map((of) => ({ slice: each, device: of, id: deviceId(each.driver, each.pool.name, of.name) })),
      );
      let expected: readonly Picked[] | undefined;
      for (const answer of answers(specs, published)) {
        if (!isAllowed(answer, specs, inUse, BigInt(memory), memoryOfUsed)) continue;
        expected = answer;
        break;
      }
      const found =
        outcome.kind !== 'allocated'
          ? undefined
          : outcome.allocations.map(({ devices }) => devices.map((each) => `${each.request}=${each.device}`));
      const reference =
        expected &&
        specs.map((_spec, index) =>
          expected
            .filter((picked) => picked.claim === index)
            .flatMap(({ name, devices }) => devices.map(({ device: { name: of } }) => `${name}=${of}`)),
        );
      expect(found).toEqual(reference);
    }),
    { numRuns: 600 },
  );
  expect(kinds).toEqual(new Set(['allocated', 'none', 'error']));
});
