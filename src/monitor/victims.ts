import type { Decision, VictimReading } from '../core/eviction.js';
import { HostError, isShortage } from '../errors.js';
import type { Evictor, KillInProgress, SignalResult, Wake } from './ports.js';
import type { EvictionTimes } from './record.js';

/** `passing`: as in SignalResult. */
type Held = Pick<SignalResult, 'error' | 'passing'> & {
  /** undefined: it could not be taken hold of. */
  readonly kill: KillInProgress | undefined;
  readonly vanished: boolean;
};

interface Victim {
  readonly decision: Decision;
  held: Held;
  /** SIGKILL, no longer SIGTERM. */
  killing: boolean;
  /** Of which signal the time stands, because it reached somebody. */
  sent: 'signalNs' | 'killNs' | undefined;
  times: EvictionTimes;
}

/** errno of a workload that is not there any more, or is another one under the same name. */
const GONE = new Set(['ENOENT', 'ENODEV', 'ESTALE', 'ESRCH']);

/** The kills under way: holds what they hold, repeats SIGKILL until nobody is left, and keeps their times. */
export class Victims {
  readonly #evictor: Evictor;
  readonly #onExit: (atNs: bigint) => void;
  readonly #victims = new Map<number, Victim>();

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
  begin(decision: Decision, wake: Wake, wakeNs: bigint): EvictionTimes {
    const times = { crossingNs: wake.atNs, wakeNs, decisionNs: decision.decidedAtNs, signalNs: undefined, killNs: undefined };
    const victim: Victim = { decision, held: this.#hold(decision), killing: decision.graceNs === 0n, sent: undefined, times };
    this.#victims.set(decision.serial, victim);
    this.#signal(victim);
    return victim.times;
  }

  escalate(decision: Decision): void {
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

  /** Lets go of a victim whose eviction is over. */
  end(serial: number): EvictionTimes | undefined {
    const victim = this.#victims.get(serial);
    victim?.held.kill?.close();
    this.#victims.delete(serial);
    return victim?.times;
  }

  close(): void {
    for (const serial of [...this.#victims.keys()]) this.end(serial);
  }

  #hold({ victim: { workload } }: Decision): Held {
    try {
      return { kill: this.#evictor.begin(workload), vanished: false, error: undefined };
    } catch (error) {
      const vanished = error instanceof HostError && error.errno !== undefined && GONE.has(error.errno);
      const passing = isShortage(error) ? 'unsent' : undefined;
      return { kill: undefined, vanished, error: error instanceof Error ? error.message : String(error), passing };
    }
  }

  #signal(victim: Victim): void {
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

  #reading(victim: Victim): VictimReading {
    if (victim.held.kill === undefined && victim.held.passing === 'unsent') {
      victim.held = this.#hold(victim.decision);
      this.#signal(victim);
    }
    let sample = victim.held.kill?.read();
    if (sample !== undefined && sample.processes > 0 && isToRepeat(victim)) {
      this.#signal(victim);
      sample = victim.held.kill?.read();
    }
    const { vanished, error, passing } = victim.held;
    const { signalNs, killNs } = victim.times;
    return {
      processes: sample?.processes,
      usageBytes: sample?.usageBytes,
      removed: sample?.removed ?? false,
      vanished,
      error,
      ...(passing && { passing: true }),
      signalledAtNs: killNs ?? signalNs,
    };
  }
}

function isToRepeat({ killing, held: { error, passing } }: Victim): boolean {
  return killing ? error === undefined || passing !== undefined : passing === 'unsent';
}
