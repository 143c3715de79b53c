import type { Decision, VictimReading } from '../core/eviction.js';
import { HostError } from '../errors.js';
import type { Evictor, KillInProgress, SignalResult, Wake } from './ports.js';
import type { EvictionTimes } from './record.js';

interface Victim {
  readonly decision: Decision;
  /** undefined: it could not be taken hold of. */
  readonly kill: KillInProgress | undefined;
  readonly vanished: boolean;
  killing: boolean;
  error: string | undefined;
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
    const victim = this.#hold(decision, times);
    this.#victims.set(decision.serial, victim);
    if (victim.kill) this.#signal(victim, decision.graceNs > 0n ? victim.kill.terminate() : this.#kill(victim, victim.kill));
    return victim.times;
  }

  escalate(decision: Decision): void {
    const victim = this.#victims.get(decision.serial);
    if (victim?.kill) this.#signal(victim, this.#kill(victim, victim.kill));
  }

  /** What is left of each. Sends SIGKILL once more to whom it did not end, because processes may fork while they are being killed. */
  readings(): Map<number, VictimReading> {
    return new Map([...this.#victims].map(([serial, victim]) => [serial, this.#reading(victim)]));
  }

  /** Lets go of a victim whose eviction is over. */
  end(serial: number): EvictionTimes | undefined {
    const victim = this.#victims.get(serial);
    victim?.kill?.close();
    this.#victims.delete(serial);
    return victim?.times;
  }

  close(): void {
    for (const serial of [...this.#victims.keys()]) this.end(serial);
  }

  #hold(decision: Decision, times: EvictionTimes): Victim {
    const victim = { decision, killing: false, vanished: false, error: undefined, times };
    try {
      return { ...victim, kill: this.#evictor.begin(decision.victim.workload) };
    } catch (error) {
      const vanished = error instanceof HostError && error.errno !== undefined && GONE.has(error.errno);
      return { ...victim, kill: undefined, vanished, error: error instanceof Error ? error.message : String(error) };
    }
  }

  #kill(victim: Victim, kill: KillInProgress): SignalResult {
    victim.killing = true;
    return kill.kill();
  }

  #signal(victim: Victim, { atNs, error }: SignalResult): void {
    const { signalNs, killNs } = victim.times;
    victim.times = { ...victim.times, signalNs: signalNs ?? atNs, killNs: victim.killing ? (killNs ?? atNs) : undefined };
    victim.error = error;
    victim.kill?.onExit(this.#onExit);
  }

  #reading(victim: Victim): VictimReading {
    const { kill, vanished, error, times } = victim;
    const signalledAtNs = times.killNs ?? times.signalNs;
    if (kill === undefined) return { processes: undefined, usageBytes: undefined, removed: false, vanished, error, signalledAtNs };
    let sample = kill.read();
    if (sample.processes > 0 && victim.killing && victim.error === undefined) {
      victim.error = kill.kill().error;
      sample = kill.read();
    }
    return {
      processes: sample.processes,
      usageBytes: sample.usageBytes,
      removed: sample.removed,
      vanished,
      error: victim.error,
      signalledAtNs,
    };
  }
}
