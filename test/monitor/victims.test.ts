import { expect, test } from 'vitest';
import type { Decision } from '../../src/core/decide/eviction.js';
import { HostError } from '../../src/errors.js';
import type { Evictor, KillInProgress, SignalResult } from '../../src/monitor/ports/ports.js';
import { Victims } from '../../src/monitor/victims.js';
import { workload } from '../core/support.js';

// Errors of a kernel under pressure cannot be had on request: the kill is played here, and test/evict has the real
// one.

const decision = (graceNs: bigint) =>
  ({ serial: 1, graceNs, decidedAtNs: 0n, victim: { workload: workload('batch'), stats: undefined } }) as unknown as Decision;
const unsent = { error: 'EMFILE', passing: 'unsent' } as const;
const inPart = { error: 'EPERM', passing: 'in part' } as const;
const final = { error: 'EPERM' };
const fine = { error: undefined };
type Answer = Pick<SignalResult, 'error' | 'passing'>;

/**
 * A kill that never ends. Its answers to signals in order, the last one again and again; `sent`: the signals, at 1, 2,
 * … ns.
 */
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
    resume: (isKilled) => sent.push(isKilled ? 'resume killed' : 'resume'),
    read: () => ({ processes: 1, usageBytes: 0n, removed: false }),
    onExit: () => undefined,
    close: () => sent.push('close'),
  };
  return { kill, sent };
}
const victims = (evictor: Evictor, graceNs: bigint) => {
  const all = new Victims(evictor, () => undefined);
  all.begin(decision(graceNs), { atNs: 0n }, { wakeNs: 0n });
  return { all, look: () => all.readings().get(1) };
};

test('SIGKILL is repeated until no process is left, also where a shortage of resources prevents it', () => {
  const { kill, sent } = played(unsent, unsent, fine);
  const { look } = victims({ begin: () => kill }, 0n);
  expect(look()).toMatchObject({ error: 'EMFILE', passing: 'unsent', signalledAtNs: 1n }); // the time limit runs from the first attempt …
  expect(look()).toMatchObject({ error: undefined, signalledAtNs: 3n }); // … until one reached a process
  expect(look()).toMatchObject({ error: undefined, signalledAtNs: 3n });
  expect(sent).toEqual(['KILL', 'KILL', 'KILL', 'KILL']);
});

test('signs that a victim still dies are passed on', () => {
  const { kill } = played(fine);
  const movement = { swapBytes: 7n, processorTicks: 9n, runs: true } as const;
  const { look } = victims({ begin: () => ({ ...kill, read: () => ({ processes: 1, usageBytes: 0n, removed: false, ...movement }) }) }, 0n);
  expect(look()).toMatchObject(movement);
});

test('a process that cannot be signalled does not end the eviction: SIGKILL is repeated', () => {
  const { kill, sent } = played(inPart);
  const { look } = victims({ begin: () => kill }, 0n);
  expect([look(), look()]).toMatchObject([{ passing: 'in part' }, { passing: 'in part' }]);
  expect(sent).toEqual(['KILL', 'KILL', 'KILL']);
});

test('after a final error without any signal no signal is repeated', () => {
  const { kill, sent } = played(final);
  const { look } = victims({ begin: () => kill }, 0n);
  const reading = look();
  expect(reading).toMatchObject({ error: 'EPERM' });
  expect(reading?.passing).toBeUndefined();
  expect(sent).toEqual(['KILL']);
});

test('SIGTERM is repeated only if no process got it, and the grace period begins with the first signal', () => {
  const { kill, sent } = played(unsent, inPart);
  const { look } = victims({ begin: () => kill }, 10n);
  expect(look()).toMatchObject({ passing: 'in part', signalledAtNs: 2n });
  expect(look()).toMatchObject({ passing: 'in part', signalledAtNs: 2n });
  expect(sent).toEqual(['TERM', 'TERM']);
});

test('an error of SIGTERM does not prevent SIGKILL', () => {
  const { kill, sent } = played(inPart, fine);
  const { all, look } = victims({ begin: () => kill }, 10n);
  all.escalate(decision(10n));
  expect(look()).toMatchObject({ error: undefined, signalledAtNs: 2n });
  expect(sent).toEqual(['TERM', 'KILL', 'KILL']);
  expect(all.timesOf(1)).toMatchObject({ signalNs: 1n, killNs: 2n });
});

test('a victim that cannot be opened for want of descriptors is tried again', () => {
  const { kill, sent } = played(fine);
  let shortages = 2;
  const begin = (): KillInProgress => {
    if (shortages-- > 0) throw new HostError('EVICTD_KILL_GONE', 'EMFILE', { errno: 'EMFILE' });
    return kill;
  };
  const { all, look } = victims({ begin }, 0n);
  expect(look()).toMatchObject({ processes: undefined, vanished: false, error: 'EMFILE', passing: 'unsent', signalledAtNs: undefined });
  expect(look()).toMatchObject({ processes: 1, error: undefined });
  expect(sent[0]).toBe('KILL');
  all.end(1);
  expect(sent.at(-1)).toBe('close');
});

test('a victim that cannot be opened for another reason is not tried again', () => {
  let begun = 0;
  const begin = (): KillInProgress => {
    begun++;
    throw new HostError('EVICTD_KILL_GONE', 'EPERM', { errno: 'EPERM' });
  };
  const { look } = victims({ begin }, 0n);
  expect(look()?.passing).toBeUndefined();
  expect(begun).toBe(1);
});

/** An eviction of the evictd before, which has sent `sent`. */
function resumed(phase: 'terminating' | 'dying', sent: 'signalNs' | 'killNs' | undefined, evictor: Evictor, objection?: string) {
  const all = new Victims(evictor, () => undefined);
  const times = { crossingNs: 1n, wakeNs: 2n, decisionNs: 3n, signalNs: sent && 4n, killNs: sent === 'killNs' ? 4n : undefined };
  all.resume({ decision: decision(10n), phase }, { times, sent }, objection);
  return { all, look: () => all.readings().get(1) };
}
const empty = { processes: 0, usageBytes: 0n, removed: false };
const gone = (): never => {
  throw new HostError('EVICTD_KILL_GONE', 'ENOENT', { errno: 'ENOENT' });
};

test.each<[rule: string, phase: 'terminating' | 'dying', sent: 'signalNs' | 'killNs' | undefined, signals: string[]]>([
  ['a victim that is known to have had SIGTERM does not get it again', 'terminating', 'signalNs', ['resume']],
  ['a victim that may not have had SIGTERM gets it', 'terminating', undefined, ['TERM']],
  ['SIGKILL is repeated', 'dying', 'killNs', ['resume killed', 'KILL']],
  ['an escalation that may not have been sent is', 'dying', 'signalNs', ['resume', 'KILL']],
  ['a SIGKILL that may not have been sent is', 'dying', undefined, ['KILL', 'KILL']],
])('an eviction of an earlier evictd is continued: %s', (_rule, phase, sent, signals) => {
  const { kill, sent: got } = played(fine);
  const { look } = resumed(phase, sent, { begin: () => kill });
  expect(look()).toMatchObject({ processes: 1, vanished: false, error: undefined });
  expect(look()?.abandoned).toBeUndefined();
  expect(got.slice(0, signals.length)).toEqual(signals);
  if (phase === 'terminating') expect(got).toEqual(signals);
});

test.each<[rule: string, begin: Evictor['begin']]>([
  ['whose cgroup was removed', gone],
  ['whose cgroup is empty', () => ({ ...played(fine).kill, read: () => empty })],
])(
  'a victim of an earlier evictd, %s, counts as evicted if a signal is known to have been sent, and is unknown otherwise',
  (_rule, begin) => {
    const known = resumed('terminating', 'signalNs', { begin }).look();
    expect(known).toMatchObject({ processes: 0, vanished: false, error: undefined });
    expect(known?.abandoned).toBeUndefined();
    expect(resumed('terminating', undefined, { begin }).look()).toMatchObject({
      processes: 0,
      vanished: false,
      abandoned: 'it is gone, and whether evictd had signalled it is not known',
    });
  },
);

test('a victim that ended before a restart counts as killed, because the container runtime may have to remove it', () => {
  const { kill, sent } = played(fine);
  resumed('dying', 'killNs', { begin: () => ({ ...kill, read: () => empty }) }, 'no workload source includes it any more');
  expect(sent).toEqual(['resume killed']);
});

test('a victim that may not be evicted any more is abandoned without a signal, and one that has ended has its outcome', () => {
  const { kill, sent } = played(fine);
  const { all, look } = resumed('dying', 'killNs', { begin: () => kill }, 'it may not be evicted any more: critical');
  expect([look(), look()]).toMatchObject([{ processes: 1, abandoned: 'it may not be evicted any more: critical' }, { processes: 1 }]);
  expect(sent).toEqual([]);
  all.end(1);
  expect(sent).toEqual(['close']);
  expect(resumed('dying', 'killNs', { begin: gone }, 'critical').look()).toMatchObject({ processes: 0, removed: true });
});

test('a victim of an earlier evictd that cannot be opened for want of descriptors is tried again, without a second SIGTERM', () => {
  const { kill, sent } = played(fine);
  let shortages = 2;
  const begin = (): KillInProgress => {
    if (shortages-- > 0) throw new HostError('EVICTD_KILL_GONE', 'EMFILE', { errno: 'EMFILE' });
    return kill;
  };
  const { look } = resumed('terminating', 'signalNs', { begin });
  expect(look()).toMatchObject({ error: 'EMFILE', passing: 'unsent' });
  expect(look()).toMatchObject({ processes: 1, error: undefined });
  expect(sent).toEqual(['resume']);
});

test('a victim that is abandoned later gets no signal either, also where it could not be opened', () => {
  const { kill, sent } = played(unsent);
  const { all, look } = victims({ begin: () => kill }, 10n);
  all.abandon(1, 'critical');
  expect([look(), look()]).toMatchObject([{ processes: 1, abandoned: 'critical' }, { abandoned: 'critical' }]);
  expect(sent).toEqual(['TERM']);

  let shortages = 1;
  const short = (): KillInProgress => {
    if (shortages-- > 0) throw new HostError('EVICTD_KILL_GONE', 'EMFILE', { errno: 'EMFILE' });
    return kill;
  };
  const later = victims({ begin: short }, 10n);
  later.all.abandon(1, 'critical');
  expect(later.look()).toMatchObject({ processes: undefined, abandoned: 'critical' });
  expect(sent).toEqual(['TERM']);
});

test('a victim that is abandoned later and has ended meanwhile has its outcome', () => {
  const { kill } = played(fine);
  const { all, look } = victims({ begin: () => ({ ...kill, read: () => empty }) }, 10n);
  all.abandon(1, 'critical');
  expect(look()).toMatchObject({ processes: 0 });
  expect(look()?.abandoned).toBeUndefined();
});

test('the sent signals are known until the eviction is over', () => {
  const { kill } = played(fine);
  const { all } = victims({ begin: () => kill }, 10n);
  expect(all.signals().get(1)).toMatchObject({ sent: 'signalNs', times: { signalNs: 1n, killNs: undefined } });
  all.escalate(decision(10n));
  expect(all.signals().get(1)).toMatchObject({ sent: 'killNs', times: { signalNs: 1n, killNs: 2n } });
  all.end(1);
  expect(all.signals().size).toBe(0);
});

test('an eviction by the native layer gets SIGKILL again, and has the times of the native layer', () => {
  const { kill, sent } = played(fine);
  const begun: unknown[] = [];
  const all = new Victims(
    {
      begin: (_workload, _unit, _graceNs, isKilled) => {
        begun.push(isKilled);
        return kill;
      },
    },
    () => undefined,
  );
  const times = all.adopt(decision(0n), { preparedAtNs: 10n, crossedAtNs: 20n, signalledAtNs: 30n });
  expect(times).toMatchObject({ crossingNs: 20n, signalNs: 30n, killNs: 30n });
  expect(begun).toEqual([true]);
  expect(sent).toEqual(['KILL']);
  expect(all.signals().get(1)?.sent).toBe('killNs');
  expect(all.readings().get(1)).toMatchObject({ processes: 1, vanished: false, signalledAtNs: 30n });
});

/** Evictions whose first signal waits until `go` is called. */
function held(graceNs: bigint, kill: KillInProgress) {
  const exits: bigint[] = [];
  const late: unknown[] = [];
  let go: () => void = () => undefined;
  const all = new Victims<Decision>(
    { begin: () => kill },
    (atNs) => exits.push(atNs),
    (_decision, whenOver) => {
      go = whenOver;
      return true;
    },
  );
  const times = all.begin(decision(graceNs), { atNs: 0n }, { wakeNs: 0n }, (sent) => late.push(sent.signalNs));
  return { all, times, exits, late, go: () => go(), look: () => all.readings().get(1) };
}

test('a signal waits for the hook before it, and is sent when the hook has ended, without a pass', () => {
  const { kill, sent } = played(fine);
  const { all, times, exits, late, go, look } = held(0n, kill);
  expect(times.signalNs).toBeUndefined();
  expect(look()).toMatchObject({ processes: 1, vanished: false, error: undefined, signalledAtNs: undefined });
  expect([sent, all.isDue, all.size]).toEqual([[], false, 1]);
  go();
  expect([sent, all.isDue, late, exits.length]).toEqual([['KILL'], true, [1n], 1]);
  go();
  expect(sent).toEqual(['KILL']);
});

test('SIGKILL that is due meanwhile is sent instead of SIGTERM, and not before the hook has ended', () => {
  const { kill, sent } = played(fine);
  const { all, go } = held(10n, kill);
  all.escalate(decision(10n));
  expect(sent).toEqual([]);
  go();
  expect(sent).toEqual(['KILL']);
});

test.each<[what: string, end: (all: Victims) => void]>([
  ['abandoned', (all) => all.abandon(1, 'it is protected now')],
  ['over', (all) => all.end(1)],
])('an eviction that is %s during the hook gets no signal', (_what, end) => {
  const { kill, sent } = played(fine);
  const { all, go, exits } = held(0n, kill);
  end(all);
  go();
  expect(sent.filter((what) => what !== 'close')).toEqual([]);
  expect(exits).toEqual([]);
});

test('a victim that ends before its first signal has ended by itself', () => {
  const { kill, sent } = played(fine);
  const { go, look } = held(0n, { ...kill, read: () => ({ processes: 0, usageBytes: 0n, removed: false }) });
  expect(look()).toMatchObject({ processes: 0, vanished: true });
  go();
  expect(sent).toEqual([]);
});
