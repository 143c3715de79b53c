import type { Decision, EvictionInFlight, StandingOrderTimes, VictimReading } from '../core/decide/eviction.js';
import type { Workload } from '../core/workload/workload.js';
import { HostError, isShortage, messageOf } from '../errors.js';
import type { Evictor, KillInProgress, SignalResult, Wake } from './ports/ports.js';
import {
  afterSignal,
  isFirstSent,
  lastSignalNs,
  noSignalSent,
  orderedSignals,
  type EvictionTimes,
  type PassTimes,
  type SentSignal,
  type SentSignals,
} from './ports/sent-signals.js';

/** A workload that is being ended, with the result of the last call. */
type Handle = Pick<SignalResult, 'error' | 'passing'> & {
  /** undefined: it could not be opened. */
  readonly kill: KillInProgress | undefined;
  /** It had ended, or was replaced, before it could be opened. */
  readonly vanished: boolean;
};

/** What has to be known of a workload to end it, by eviction or shutdown. */
export type DyingVictim = Pick<Decision, 'serial' | 'unit' | 'graceNs' | 'decidedAtNs'> & {
  readonly victim: Pick<Decision['victim'], 'workload' | 'process'>;
  /** Left out: a shutdown. */
  readonly cause?: Decision['cause'];
};

interface Victim<D extends DyingVictim> {
  readonly decision: D;
  /** Its first signal waits for what happens before it. */
  waits: boolean;
  handle: Handle;
  /** The signal of its phase: what is repeated. */
  wanted: SentSignal;
  signals: SentSignals;
  /** As in VictimReading. */
  abandoned?: string;
}

const NONE: ReadonlyMap<number, SentSignals> = new Map();

/** errno of a workload that has ended, or was replaced by another one of the same name. */
const GONE = new Set(['ENOENT', 'ENODEV', 'ESTALE', 'ESRCH']);

/** The kills under way. Repeats SIGKILL until no process is left, and knows which signals were sent. */
export class Victims<D extends DyingVictim = Decision> {
  readonly #evictor: Evictor;
  readonly #onExit: (atNs: bigint) => void;
  readonly #before: ((decision: D, go: () => void) => boolean) | undefined;
  readonly #victims = new Map<number, Victim<D>>();

  /** @param before  as in BeforeSignal; left out: nothing happens before a signal */
  constructor(evictor: Evictor, onExit: (atNs: bigint) => void, before?: (decision: D, go: () => void) => boolean) {
    this.#evictor = evictor;
    this.#onExit = onExit;
    this.#before = before;
  }

  get size(): number {
    return this.#victims.size;
  }

  /** Whether a look can show progress: a victim whose first signal waits shows none. */
  get isDue(): boolean {
    return [...this.#victims.values()].some(({ waits }) => !waits);
  }

  /** When the last signal was sent to any of them; undefined: none was. */
  get lastSignalNs(): bigint | undefined {
    const times = [...this.#victims.values()].flatMap(({ signals }) => lastSignalNs(signals) ?? []);
    return times.reduce<bigint | undefined>((last, time) => (last === undefined || time > last ? time : last), undefined);
  }

  /**
   * Sends the first signal, or leaves it to what happens before. Never throws: the next reading has the error.
   *
   * @param onSent  called where the signal is sent later
   */
  begin(
    decision: D,
    wake: Pick<Wake, 'atNs'>,
    times: PassTimes = { wakeNs: wake.atNs },
    onSent: (times: EvictionTimes) => void = () => undefined,
  ): EvictionTimes {
    const victim: Victim<D> = {
      decision,
      waits: false,
      handle: this.#open(decision),
      wanted: decision.graceNs <= 0n ? 'killNs' : 'signalNs',
      signals: noSignalSent({ ...times, crossingNs: wake.atNs, decisionNs: decision.decidedAtNs }),
    };
    this.#victims.set(decision.serial, victim);
    const go = (): void => {
      if (!victim.waits) return;
      victim.waits = false;
      if (this.#victims.get(decision.serial) !== victim || victim.abandoned !== undefined) return;
      if (!hasExited(victim)) this.#signal(victim);
      onSent(victim.signals.times);
      this.#onExit(process.hrtime.bigint());
    };
    if (victim.handle.kill !== undefined) victim.waits = this.#before?.(decision, go) ?? false;
    this.#signal(victim);
    return victim.signals.times;
  }

  /**
   * Continues an eviction that the native layer began. Sends SIGKILL again: processes may have started since, and what
   * follows a kill (systemd is asked to stop the unit, a container is removed) is still to be done. Never throws.
   */
  adopt(decision: D, { crossedAtNs, signalledAtNs }: StandingOrderTimes): EvictionTimes {
    const victim: Victim<D> = {
      decision,
      waits: false,
      handle: this.#open(decision, true),
      wanted: 'killNs',
      signals: orderedSignals(crossedAtNs, signalledAtNs),
    };
    this.#victims.set(decision.serial, victim);
    this.#signal(victim);
    victim.handle.kill?.onExit(this.#onExit);
    return victim.signals.times;
  }

  /**
   * Continues an eviction that an earlier evictd began. SIGTERM that is known to have been sent is not sent again;
   * SIGKILL is repeated. Never throws.
   *
   * @param objection  why a victim that still runs is not evicted any more; undefined: nothing is against it
   */
  resume(
    { decision, phase }: Pick<EvictionInFlight, 'phase'> & { readonly decision: D },
    saved: SentSignals | undefined,
    objection: string | undefined,
  ): void {
    const { decidedAtNs } = decision;
    const signals = saved ?? noSignalSent({ crossingNs: decidedAtNs, wakeNs: undefined, decisionNs: decidedAtNs });
    const wanted = phase === 'dying' ? 'killNs' : 'signalNs';
    const victim: Victim<D> = { decision, waits: false, handle: this.#open(decision), wanted, signals };
    this.#victims.set(decision.serial, victim);
    const { sent } = signals;
    const hasGone = hasExited(victim);
    if (hasGone || objection === undefined) resumeKill(victim);
    if (hasGone) {
      if (sent === undefined) victim.abandoned = 'it is gone, and whether evictd had signalled it is not known';
    } else if (objection !== undefined) {
      victim.abandoned = objection;
    } else if (sent === undefined) {
      this.#signal(victim);
    } else {
      victim.handle.kill?.onExit(this.#onExit);
    }
  }

  signals(): ReadonlyMap<number, SentSignals> {
    if (this.#victims.size === 0) return NONE;
    return new Map([...this.#victims].map(([serial, { signals }]) => [serial, signals]));
  }

  /** Stops the eviction, and the next reading says why. A victim that has ended already keeps its outcome. */
  abandon(serial: number, objection: string): void {
    const victim = this.#victims.get(serial);
    if (victim !== undefined && !hasExited(victim)) victim.abandoned = objection;
  }

  escalate(decision: Pick<D, 'serial'>): void {
    const victim = this.#victims.get(decision.serial);
    if (victim === undefined) return;
    victim.wanted = 'killNs';
    this.#signal(victim);
  }

  /**
   * What is left of each victim. Repeats SIGKILL, because processes may fork while they are being killed, and sends
   * what could not be sent because evictd was short of a resource.
   */
  readings(): Map<number, VictimReading> {
    return new Map([...this.#victims].map(([serial, victim]) => [serial, this.#reading(victim)]));
  }

  timesOf(serial: number): EvictionTimes | undefined {
    return this.#victims.get(serial)?.signals.times;
  }

  end(serial: number): void {
    this.#victims.get(serial)?.handle.kill?.close();
    this.#victims.delete(serial);
  }

  close(): void {
    for (const serial of [...this.#victims.keys()]) this.end(serial);
  }

  #open({ victim: { workload, process: only }, unit, graceNs, cause }: D, isKilled = false): Handle {
    try {
      const kill = this.#evictor.begin(workload, unit, graceNs > 0n ? graceNs : 0n, isKilled, only, cause);
      return { kill, vanished: false, error: undefined };
    } catch (error) {
      const passing = isShortage(error) ? 'unsent' : undefined;
      return { kill: undefined, vanished: isEndedError(error), error: messageOf(error), passing };
    }
  }

  #signal(victim: Victim<D>): void {
    const { handle, wanted, signals: before } = victim;
    const { kill } = handle;
    if (kill === undefined || victim.waits) return;
    const result = wanted === 'killNs' ? kill.kill() : kill.terminate();
    victim.handle = { ...handle, error: result.error, passing: result.passing };
    victim.signals = afterSignal(before, wanted, result);
    if (isFirstSent(before, wanted, result)) kill.onExit(this.#onExit);
  }

  #reading(victim: Victim<D>): VictimReading {
    const { abandoned, signals, decision } = victim;
    if (abandoned === undefined && victim.handle.kill === undefined && victim.handle.passing === 'unsent') {
      victim.handle = this.#open(decision);
      if (signals.sent === undefined) this.#signal(victim);
      else resumeKill(victim);
    }
    let sample = victim.handle.kill?.read();
    if (abandoned === undefined && sample !== undefined && sample.processes > 0 && isToRepeat(victim)) {
      this.#signal(victim);
      sample = victim.handle.kill?.read();
    }
    const { vanished, error, passing, kill } = victim.handle;
    const hasEnded = vanished && (victim.signals.sent !== undefined || abandoned !== undefined);
    return {
      processes: hasEnded ? 0 : sample?.processes,
      usageBytes: sample?.usageBytes,
      swapBytes: sample?.swapBytes,
      processorTicks: sample?.processorTicks,
      ...(sample?.runs && { runs: true }),
      ...(sample?.later && { later: sample.later }),
      removed: hasEnded || (sample?.removed ?? false),
      vanished: vanished ? !hasEnded : isUntouched(victim) && sample?.processes === 0,
      error: hasEnded ? undefined : (sample?.refused ?? error),
      ...(sample?.refused !== undefined && { refused: true }),
      ...(passing && { passing }),
      signalledAtNs: lastSignalNs(victim.signals),
      systemd: kill?.systemd?.(),
      ...(abandoned === undefined ? {} : { abandoned }),
      ...(sample?.stopping && { stopping: true }),
      ...(sample?.queued && { queued: true }),
      ...(sample?.unanswered && { unanswered: true }),
    };
  }
}

/** Tells a new handle what an earlier one has sent. */
function resumeKill({ handle, signals: { sent } }: Pick<Victim<DyingVictim>, 'handle' | 'signals'>): void {
  if (sent !== undefined) handle.kill?.resume?.(sent === 'killNs');
}

function hasExited({ handle: { kill, vanished } }: Pick<Victim<DyingVictim>, 'handle'>): boolean {
  return vanished || kill?.read().processes === 0;
}

function isEndedError(error: unknown): boolean {
  return error instanceof HostError && error.errno !== undefined && GONE.has(error.errno);
}

/** Whether no process of the workload is left. Sends no signal. false also where that cannot be found out. */
export function hasWorkloadEnded(evictor: Evictor, workload: Workload): boolean {
  try {
    const kill = evictor.begin(workload);
    try {
      return kill.read().processes === 0;
    } finally {
      kill.close();
    }
  } catch (error) {
    return isEndedError(error);
  }
}

/** No signal was tried by this process or an earlier one. */
function isUntouched({ signals, abandoned }: Pick<Victim<DyingVictim>, 'signals' | 'abandoned'>): boolean {
  return signals.times.signalNs === undefined && abandoned === undefined;
}

function isToRepeat({ wanted, handle: { error, passing } }: Pick<Victim<DyingVictim>, 'wanted' | 'handle'>): boolean {
  return wanted === 'killNs' ? error === undefined || passing !== undefined : passing === 'unsent';
}
