import { expect, test } from 'vitest';
import {
  claim,
  DEFAULT_TIMINGS,
  isHeld,
  released,
  seeLease,
  type LeaseSpec,
  type SeenLease,
} from '../../../src/core/cluster/leader-election.js';
import { fc } from '../../support/property.js';

const SECOND = 1_000_000_000n;
const SPEC: LeaseSpec = { holderIdentity: 'a', leaseDurationSeconds: 15, acquireTime: '1', renewTime: '1', leaseTransitions: 3 };

test.each<[rule: string, seen: SeenLease | undefined, identity: string, nowNs: bigint, expected: Partial<LeaseSpec> | undefined]>([
  ['without a lease evictd acquires it', undefined, 'b', 0n, { holderIdentity: 'b', leaseTransitions: 0 }],
  ['the holder renews it', { spec: SPEC, sinceNs: 0n }, 'a', 99n * SECOND, { acquireTime: '1', renewTime: 'now', leaseTransitions: 3 }],
  ['another process waits for the whole lease duration', { spec: SPEC, sinceNs: 0n }, 'b', 15n * SECOND, undefined],
  [
    'another process takes the lease after its duration',
    { spec: SPEC, sinceNs: 0n },
    'b',
    15n * SECOND + 1n,
    { holderIdentity: 'b', acquireTime: 'now', leaseTransitions: 4 },
  ],
  ['a lease that was given up is free', { spec: released(SPEC, '2'), sinceNs: 0n }, 'b', 0n, { holderIdentity: 'b', leaseTransitions: 4 }],
])('%s', (_, seen, identity, nowNs, expected) => {
  const spec = claim(seen, identity, DEFAULT_TIMINGS, nowNs, 'now');
  if (expected === undefined) expect(spec).toBeUndefined();
  else expect(spec).toMatchObject(expected);
});

test('the duration runs from the last change that was seen', () => {
  const first = seeLease(undefined, SPEC, 5n);
  expect(seeLease(first, { ...SPEC }, 99n)).toBe(first);
  expect(seeLease(first, { ...SPEC, renewTime: '2' }, 99n).sinceNs).toBe(99n);
  expect(isHeld(first, 30n * SECOND, 60n * SECOND)).toBe(true);
});

/** Two processes with clocks of their own, whose requests and answers take any time or are lost. */
test('two processes never act at the same time', () => {
  const event = fc.record({
    process: fc.nat({ max: 1 }),
    waitMs: fc.nat({ max: 9_000 }),
    thereMs: fc.nat({ max: 4_000 }),
    isLost: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(event, { minLength: 60, maxLength: 120 }), fc.bigInt({ min: 0n, max: 10n ** 15n }), (events, offsetNs) => {
      let stored: { readonly spec: LeaseSpec; readonly version: number } | undefined;
      const processes = [0n, offsetNs].map((offset) => ({ offset, seen: undefined as SeenLease | undefined, untilNs: -1n }));
      let nowNs = 0n;
      for (const [at, { process, waitMs, thereMs, isLost }] of events.entries()) {
        nowNs += BigInt(waitMs) * 1_000_000n;
        const self = processes[process];
        if (self === undefined) throw new Error('no such process');
        const read = stored;
        if (read !== undefined) self.seen = seeLease(self.seen, read.spec, nowNs + self.offset);
        const spec = claim(read && self.seen, String(process), DEFAULT_TIMINGS, nowNs + self.offset, String(at));
        if (spec === undefined) continue;
        const sentNs = nowNs;
        nowNs += BigInt(thereMs) * 1_000_000n; // nothing else writes meanwhile: a version that has changed would be refused
        stored = { spec, version: at };
        if (!isLost) self.untilNs = sentNs + DEFAULT_TIMINGS.renewDeadlineNs;
        if (processes.every(({ untilNs }) => nowNs < untilNs)) return false;
      }
      return true;
    }),
  );
});
