import type { Decision, EvictionInFlight, VictimReading } from '../core/eviction.js';
import type { Workload } from '../core/workload.js';
import { HostError, isShortage } from '../errors.js';
import type { Evictor, KillInProgress, SignalResult, Wake } from './ports.js';

/** The moments of an eviction, monotonic nanoseconds. The journal has their differences. */
export interface EvictionTimes {
  readonly crossingNs: bigint;
  /** undefined: in a replay, which does not know it. */
  readonly wakeNs: bigint | undefined;
  readonly decisionNs: bigint;
  readonly signalNs: bigint | undefined;
  readonly killNs: bigint | undefined;
}

/** `passing`: as in SignalResult. */
type Held = Pick<SignalResult, 'error' | 'passing'> & {
  /** undefined: it could not be taken hold of. */
  readonly kill: KillInProgress | undefined;
  readonly vanished: boolean;
};

/** What is known of the signals of one eviction. */
export interface SentSignals {
  readonly times: EvictionTimes;
  /** Of which signal the time stands, because it reached somebody; undefined: none is known to have. */
  readonly sent: 'signalNs' | 'killNs' | undefined;
}

/** What is known of whoever is to end, by whatever decision. */
export type Ending = Pick<Decision, 'serial' | 'unit' | 'graceNs' | 'decidedAtNs'> & {
  readonly victim: Pick<Decision['victim'], 'workload'>;
};

interface Victim<D extends Ending> extends SentSignals {
  readonly decision: D;
  held: Held;
  /** SIGKILL, no longer SIGTERM. */
  killing: boolean;
  sent: SentSignals['sent'];
  times: EvictionTimes;
  /** As in VictimReading. */
  abandoned?: string;
}

const NONE: ReadonlyMap<number, SentSignals> = new Map();

/** errno of a workload that is not there any more, or is another one under the same name. */
const GONE = new Set(['ENOENT', 'ENODEV', 'ESTALE', 'ESRCH']);

/** The kills under way: holds what they hold, repeats SIGKILL until nobody is left, and keeps their times. */
export class Victims<D extends Ending = Decision> {
  readonly #evictor: Evictor;
  readonly #onExit: (atNs: bigint) => void;
  readonly #victims = new Map<number, Victim<D>>();

  /** @param onExit  the last process of one of them has exited */
  constructor(evictor: Evictor, onExit: (atNs: bigint) => void) {
    this.#evictor = evictor;
    this.#onExit = onExit;
  }

  get size(): number {
    return this.#victims.size;
  }

  /** When the youngest of them got its last deadly signal; undefined: none has. */
  get lastSignalNs(): bigint | undefined {
    const times = [...this.#victims.values()].flatMap(({ times: { killNs, signalNs } }) => killNs ?? signalNs ?? []);
    return times.reduce<bigint | undefined>((last, time) => (last === undefined || time > last ? time : last), undefined);
  }

  /** Sends the first signal. Never throws: what went wrong is in the next reading. */
  begin(decision: D, wake: Pick<Wake, 'atNs'>, wakeNs: bigint): EvictionTimes {
    const times = { crossingNs: wake.atNs, wakeNs, decisionNs: decision.decidedAtNs, signalNs: undefined, killNs: undefined };
    const victim: Victim<D> = { decision, held: this.#hold(decision), killing: decision.graceNs === 0n, sent: undefined, times };
    this.#victims.set(decision.serial, victim);
    this.#signal(victim);
    return victim.times;
  }

  /**
   * Goes on with an eviction of an evictd before. Whoever is known to have had the signal of its phase is not told to end a second time; SIGKILL is repeated as ever. Never
   * throws.
   *
   * @param objection  why somebody who still lives is let go; undefined: nothing is against it
   */
  resume(
    { decision, phase }: Pick<EvictionInFlight, 'phase'> & { readonly decision: D },
    signals: SentSignals | undefined,
    objection: string | undefined,
  ): void {
    const { decidedAtNs: decisionNs } = decision;
    const { sent, times = { crossingNs: decisionNs, wakeNs: undefined, decisionNs, signalNs: undefined, killNs: undefined } } =
      signals ?? {};
    const victim: Victim<D> = { decision, held: this.#hold(decision), killing: phase === 'dying', sent, times };
    this.#victims.set(decision.serial, victim);
    const { kill } = victim.held;
    const hasGone = isGone(victim);
    if (sent !== undefined && (hasGone || objection === undefined)) kill?.resume?.(sent === 'killNs');
    if (hasGone) {
      if (sent === undefined) victim.abandoned = 'it is gone, and whether a signal has reached it before is not known';
    } else if (objection !== undefined) {
      victim.abandoned = objection;
    } else if (sent === undefined) {
      this.#signal(victim);
    } else {
      kill?.onExit(this.#onExit);
    }
  }

  /** Of all that are under way. */
  signals(): ReadonlyMap<number, SentSignals> {
    if (this.#victims.size === 0) return NONE;
    return new Map([...this.#victims].map(([serial, { times, sent }]) => [serial, { times, sent }]));
  }

  /** Nothing more is done to it, and the next reading says why; who has gone has its outcome. */
  abandon(serial: number, objection: string): void {
    const victim = this.#victims.get(serial);
    if (victim !== undefined && !isGone(victim)) victim.abandoned = objection;
  }

  escalate(decision: Pick<D, 'serial'>): void {
    const victim = this.#victims.get(decision.serial);
    if (victim === undefined) return;
    victim.killing = true;
    this.#signal(victim);
  }

  /**
   * What is left of each. Sends SIGKILL once more to whom it did not end, because processes may fork while they are being killed; and what could not be sent, because
   * evictd was short of something.
   */
  readings(): Map<number, VictimReading> {
    return new Map([...this.#victims].map(([serial, victim]) => [serial, this.#reading(victim)]));
  }

  timesOf(serial: number): EvictionTimes | undefined {
    return this.#victims.get(serial)?.times;
  }

  /** Closes a victim whose eviction is over. */
  end(serial: number): void {
    this.#victims.get(serial)?.held.kill?.close();
    this.#victims.delete(serial);
  }

  close(): void {
    for (const serial of [...this.#victims.keys()]) this.end(serial);
  }

  #hold({ victim: { workload }, unit, graceNs }: D): Held {
    try {
      return { kill: this.#evictor.begin(workload, unit, graceNs), vanished: false, error: undefined };
    } catch (error) {
      const vanished = saysGone(error);
      const passing = isShortage(error) ? 'unsent' : undefined;
      return { kill: undefined, vanished, error: error instanceof Error ? error.message : String(error), passing };
    }
  }

  #signal(victim: Victim<D>): void {
    const { held, killing, times } = victim;
    const { kill } = held;
    if (kill === undefined) return;
    const { atNs, error, passing } = killing ? kill.kill() : kill.terminate();
    victim.held = { ...held, error, passing };
    const name = killing ? 'killNs' : 'signalNs';
    const isFirst = passing !== 'unsent' && victim.sent !== name;
    // Of an attempt, until there is one that reached somebody.
    const signalNs = isFirst && victim.sent === undefined ? atNs : (times.signalNs ?? atNs);
    victim.times = { ...times, signalNs, killNs: killing ? (isFirst ? atNs : (times.killNs ?? atNs)) : undefined };
    if (!isFirst) return;
    victim.sent = name;
    kill.onExit(this.#onExit);
  }

  #reading(victim: Victim<D>): VictimReading {
    if (victim.abandoned === undefined && victim.held.kill === undefined && victim.held.passing === 'unsent') {
      victim.held = this.#hold(victim.decision);
      if (victim.sent === undefined) this.#signal(victim);
      else victim.held.kill?.resume?.(victim.sent === 'killNs');
    }
    let sample = victim.held.kill?.read();
    if (victim.abandoned === undefined && sample !== undefined && sample.processes > 0 && isToRepeat(victim)) {
      this.#signal(victim);
      sample = victim.held.kill?.read();
    }
    const { vanished, error, passing } = victim.held;
    const { signalNs, killNs } = victim.times;
    const hasEnded = vanished && (victim.sent !== undefined || victim.abandoned !== undefined);
    const processes = hasEnded ? 0 : sample?.processes;
    return {
      processes,
      usageBytes: sample?.usageBytes,
      removed: hasEnded || (sample?.removed ?? false),
      vanished: vanished && !hasEnded,
      error: hasEnded ? undefined : error,
      ...(passing && { passing: true }),
      signalledAtNs: killNs ?? signalNs,
      systemd: victim.held.kill?.systemd?.(),
      ...(victim.abandoned === undefined ? {} : { abandoned: victim.abandoned }),
      ...(sample?.stopping && { stopping: true }),
      ...(sample?.queued && { queued: true }),
    };
  }
}

function isGone({ held: { kill, vanished } }: Pick<Victim<Ending>, 'held'>): boolean {
  return vanished || kill?.read().processes === 0;
}

function saysGone(error: unknown): boolean {
  return error instanceof HostError && error.errno !== undefined && GONE.has(error.errno);
}

/** Whether nobody lives in it any more. Signals nobody. What cannot be told is not so. */
export function hasGone(evictor: Evictor, workload: Workload): boolean {
  try {
    const held = evictor.begin(workload);
    try {
      return held.read().processes === 0;
    } finally {
      held.close();
    }
  } catch (error) {
    return saysGone(error);
  }
}

function isToRepeat({ killing, held: { error, passing } }: Pick<Victim<Ending>, 'killing' | 'held'>): boolean {
  return killing ? error === undefined || passing !== undefined : passing === 'unsent';
}
