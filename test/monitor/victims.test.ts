import { expect, test } from 'vitest';
import type { Decision } from '../../src/core/eviction.js';
import { HostError } from '../../src/errors.js';
import type { Evictor, KillInProgress, SignalResult } from '../../src/monitor/ports.js';
import { Victims } from '../../src/monitor/victims.js';
import { workload } from '../core/support.js';

// What a kernel in need answers cannot be had on request: the kill is played here, and test/actions has the real one.

const decision = (graceNs: bigint) =>
  ({ serial: 1, graceNs, decidedAtNs: 0n, victim: { workload: workload('batch'), stats: undefined } }) as unknown as Decision;
const unsent = { error: 'EMFILE', passing: 'unsent' } as const;
const inPart = { error: 'EPERM', passing: 'in part' } as const;
const final = { error: 'EPERM' };
const fine = { error: undefined };
type Answer = Pick<SignalResult, 'error' | 'passing'>;

/** One that never ends. The answers to its signals in order, the last one again and again; `sent`: which signals they were, at 1, 2, … ns. */
function played(...answers: Answer[]) {
  const sent: string[] = [];
  const answer = (name: string): SignalResult => {
    sent.push(name);
    const next = answers.length > 1 ? answers.shift() : answers[0];
    return { atNs: BigInt(sent.length), processes: 1, error: next?.error, passing: next?.passing };
  };
  const kill: KillInProgress = {
    terminate: () => answer('TERM'),
    kill: () => answer('KILL'),
    read: () => ({ timeNs: 0n, processes: 1, usageBytes: 0n, removed: false }),
    onExit: () => undefined,
    close: () => sent.push('close'),
  };
  return { kill, sent };
}
const victims = (evictor: Evictor, graceNs: bigint) => {
  const all = new Victims(evictor, () => undefined);
  all.begin(decision(graceNs), { source: 'tick', atNs: 0n }, 0n);
  return { all, look: () => all.readings().get(1) };
};

test('SIGKILL is repeated until nobody is left, also where a shortage keeps it from being sent', () => {
  const { kill, sent } = played(unsent, unsent, fine);
  const { look } = victims({ begin: () => kill }, 0n);
  expect(look()).toMatchObject({ error: 'EMFILE', passing: true, signalledAtNs: 1n }); // the time limit runs from the first attempt …
  expect(look()).toMatchObject({ error: undefined, signalledAtNs: 3n }); // … until one reached somebody
  expect(look()).toMatchObject({ error: undefined, signalledAtNs: 3n });
  expect(sent).toEqual(['KILL', 'KILL', 'KILL', 'KILL']);
});

test('one process that cannot be signalled does not end it: SIGKILL goes on', () => {
  const { kill, sent } = played(inPart);
  const { look } = victims({ begin: () => kill }, 0n);
  expect([look(), look()]).toMatchObject([{ passing: true }, { passing: true }]);
  expect(sent).toEqual(['KILL', 'KILL', 'KILL']);
});

test('where nothing can be signalled for good, nothing more is tried', () => {
  const { kill, sent } = played(final);
  const { look } = victims({ begin: () => kill }, 0n);
  const reading = look();
  expect(reading).toMatchObject({ error: 'EPERM' });
  expect(reading?.passing).toBeUndefined();
  expect(sent).toEqual(['KILL']);
});

test('SIGTERM is repeated only where nobody got it; the grace begins when somebody has', () => {
  const { kill, sent } = played(unsent, inPart);
  const { look } = victims({ begin: () => kill }, 10n);
  expect(look()).toMatchObject({ passing: true, signalledAtNs: 2n });
  expect(look()).toMatchObject({ passing: true, signalledAtNs: 2n });
  expect(sent).toEqual(['TERM', 'TERM']);
});

test('what went wrong with SIGTERM is no reason not to kill', () => {
  const { kill, sent } = played(inPart, fine);
  const { all, look } = victims({ begin: () => kill }, 10n);
  all.escalate(decision(10n));
  expect(look()).toMatchObject({ error: undefined, signalledAtNs: 2n });
  expect(sent).toEqual(['TERM', 'KILL', 'KILL']);
  expect(all.end(1)).toMatchObject({ signalNs: 1n, killNs: 2n });
});

test('one that cannot be taken hold of for want of descriptors is tried again', () => {
  const { kill, sent } = played(fine);
  let shortages = 2;
  const begin = (): KillInProgress => {
    if (shortages-- > 0) throw new HostError('EVICTD_KILL_GONE', 'EMFILE', { errno: 'EMFILE' });
    return kill;
  };
  const { all, look } = victims({ begin }, 0n);
  expect(look()).toMatchObject({ processes: undefined, vanished: false, error: 'EMFILE', passing: true, signalledAtNs: undefined });
  expect(look()).toMatchObject({ processes: 1, error: undefined });
  expect(sent[0]).toBe('KILL');
  all.end(1);
  expect(sent.at(-1)).toBe('close');
});

test('… but not one that cannot be for another reason', () => {
  let begun = 0;
  const begin = (): KillInProgress => {
    begun++;
    throw new HostError('EVICTD_KILL_GONE', 'EPERM', { errno: 'EPERM' });
  };
  const { look } = victims({ begin }, 0n);
  expect(look()?.passing).toBeUndefined();
  expect(begun).toBe(1);
});
