import { setTimeout as pause } from 'node:timers/promises';
import type { SystemdAnswer } from '../core/decide/eviction.js';
import type { StepInput } from '../core/decide/step-input.js';
import type { LoadedUnit } from '../core/systemd/loaded-unit.js';
import type { HoldChange } from '../core/systemd/restart-storm.js';
import type { Hold } from '../core/systemd/unit-hold.js';
import type { State } from '../core/decide/state.js';
import { notStarted, planUnitStart, startsOf, type NotStarted, type Refused, type UnitStart } from '../core/systemd/unit-start.js';
import type { UnitManager } from './ports/ports.js';

const LOOK_MS = 5;
/**
 * A start is not urgent. systemd answers which units conflict within milliseconds, or within seconds on a machine that
 * is short of resources.
 */
const KNOWN_WITHIN_NS = 10_000_000_000n;
/** No timeout here: the caller has one. */
const EVER_NS = 1n << 62n;
const LOST: SystemdAnswer = { units: [], errors: [], lost: true };

interface StartRequest {
  readonly hold: Hold;
  /** The conflicts did not become known in time, and no start was requested. */
  unknown?: true;
  /** undefined: the conflicts are not known yet, and no start was requested. */
  begun?: { readonly plan: UnitStart; readonly atNs: bigint; readonly answer: () => SystemdAnswer | undefined };
}

/**
 * The result for a unit that was to be started. `open`: whether systemd starts it is unknown, and it stays in the saved
 * state.
 */
export type ReleaseResult =
  | { readonly kind: 'started'; readonly hold: Hold }
  | { readonly kind: 'refused'; readonly hold: Hold; readonly why: Refused }
  | { readonly kind: 'open'; readonly hold: Hold; readonly reason: string };

/** Watches the units that are kept stopped, and starts them again. */
export class Releases {
  readonly #requested = new Map<string, StartRequest>();
  readonly #started = new Map<string, bigint>();
  /** The decision whose stop job systemd has refused, by unit. */
  readonly #notStopped = new Map<string, number>();
  /** The decision after which the unit was seen stopped, by unit. */
  readonly #stopped = new Map<string, number>();

  /**
   * @param onRefused  a unit, or one of those that belong to it, was not started
   * @param knownWithinNs  how long the answer about conflicts is awaited
   */
  constructor(
    private readonly units: Pick<UnitManager, 'connect' | 'unit' | 'watch' | 'awaited' | 'request' | 'problem'>,
    private readonly onRefused: (hold: Hold, why: NotStarted) => void,
    private readonly knownWithinNs = KNOWN_WITHIN_NS,
  ) {}

  /** Whether systemd can be reached now. Read only while a unit is kept stopped. */
  get isDisconnected(): boolean {
    return !this.units.connect();
  }

  /** systemd has refused to stop a unit that was to be kept stopped. */
  notStopped({ unit, decision }: Hold): void {
    this.#notStopped.set(unit, decision);
  }

  /** What has changed for the units that are kept stopped, since the last call. */
  holdChanges(held: State['held']): ReadonlyMap<string, HoldChange> {
    this.units.watch([...held.values()].flatMap((hold) => startsOf(hold, (name) => this.units.unit(name))));
    return new Map(
      [...held.values()].flatMap((hold) => {
        const news = hold.startRequested ? this.#answered(hold) : this.#changed(hold);
        return news === undefined ? [] : [[hold.unit, news] as const];
      }),
    );
  }

  /**
   * Requests the start as soon as the conflicts are known, and returns at once. Units whose start would make systemd
   * stop a running unit are left out. Returns whether systemd can be reached.
   */
  begin(hold: Hold): boolean {
    return this.#begin(hold, this.knownWithinNs, true);
  }

  /** Resolves when systemd can be reached, or after `timeoutMs`. */
  async connected(timeoutMs: number): Promise<void> {
    const endNs = process.hrtime.bigint() + BigInt(timeoutMs) * 1_000_000n;
    while (!this.units.connect() && process.hrtime.bigint() < endNs) await pause(LOOK_MS);
  }

  /**
   * Requests the start of all units whose conflicts become known within half of `timeoutMs`. Resolves when all are
   * answered, or after `timeoutMs`.
   */
  async release(holds: readonly Hold[], timeoutMs: number): Promise<readonly ReleaseResult[]> {
    const timeoutNs = BigInt(timeoutMs) * 1_000_000n;
    const endNs = process.hrtime.bigint() + timeoutNs;
    const unreached = new Set(holds.filter((hold) => !this.#begin(hold, timeoutNs / 2n, false)));
    const released: ReleaseResult[] = [];
    for (const hold of holds) {
      let came = unreached.has(hold) ? this.#unreached(hold) : this.#outcome(hold);
      while (came === undefined && process.hrtime.bigint() < endNs) {
        await pause(LOOK_MS);
        came = this.#outcome(hold);
      }
      released.push(came ?? { kind: 'open', hold, reason: 'systemd does not answer' });
    }
    return released;
  }

  #begin(hold: Hold, knownWithinNs: bigint, inAnyCase: boolean): boolean {
    if (!this.units.connect()) return false;
    const request: StartRequest = { hold };
    this.#requested.set(hold.unit, request);
    void this.#ask(request, knownWithinNs, inAnyCase);
    return true;
  }

  async #ask(request: StartRequest, knownWithinNs: bigint, inAnyCase: boolean): Promise<void> {
    const { hold } = request;
    const beganNs = process.hrtime.bigint();
    const isUnsure = (): boolean => this.#isUnsure(hold, beganNs);
    while (isUnsure() && process.hrtime.bigint() - beganNs < knownWithinNs) await pause(LOOK_MS, undefined, { ref: false });
    if (this.#requested.get(hold.unit) !== request) return;
    if (!inAnyCase && isUnsure()) {
      request.unknown = true;
      return;
    }
    const plan = planUnitStart(hold, (name) => this.#unit(name));
    const jobs = plan.start.map((unit) => ({ type: 'start', unit }) as const);
    const atNs = process.hrtime.bigint();
    const answer = jobs.length > 0 ? this.units.request(jobs) : () => ({ units: [], errors: [] });
    request.begun = { plan, atNs, answer: answer ?? (() => LOST) };
  }

  /** Whether the units are not known yet, after a start of evictd. */
  #isUnsure(hold: Hold, sinceNs: bigint): boolean {
    const names = startsOf(hold, (name) => this.units.unit(name));
    const awaited = names.map((name) => this.units.awaited(name, EVER_NS, sinceNs) || this.units.unit(name)?.stale === true);
    return this.units.connect() && awaited.includes(true);
  }

  /** A unit that is being started counts as running: an older reading does not show that. */
  #unit(name: string): LoadedUnit | undefined {
    const unit = this.units.unit(name);
    if (unit === undefined) return undefined;
    const isRequested = [...this.#requested.values()].some(({ begun }) => begun?.plan.start.includes(name));
    return isRequested || unit.readAtNs <= (this.#started.get(name) ?? -1n) ? { ...unit, activeState: 'activating' } : unit;
  }

  #answered(hold: Hold): HoldChange | undefined {
    const came = this.#outcome(hold);
    if (came?.kind === 'refused') this.onRefused(hold, came.why);
    return came && (came.kind === 'open' ? 'lost' : 'started');
  }

  /**
   * undefined: no answer yet. 'open' also where an earlier evictd made the request: whether systemd has done it is
   * unknown.
   */
  #outcome(hold: Hold): ReleaseResult | undefined {
    const request = this.#requested.get(hold.unit);
    if (request?.unknown) {
      this.#requested.delete(hold.unit);
      return { kind: 'open', hold, reason: 'systemd did not report in time which units conflict with it' };
    }
    const answer = request ? request.begun?.answer() : LOST;
    if (answer === undefined) return undefined;
    this.#requested.delete(hold.unit);
    if (request?.begun === undefined || answer.lost) return { kind: 'open', hold, reason: 'the connection to systemd was lost' };
    const { plan, atNs } = request.begun;
    for (const name of plan.start) if (answer.units.includes(name)) this.#started.set(name, atNs);
    const why = notStarted(plan, answer.errors);
    return why ? { kind: 'refused', hold, why } : { kind: 'started', hold };
  }

  #unreached(hold: Hold): ReleaseResult {
    return { kind: 'open', hold, reason: this.units.problem()?.message ?? 'systemd cannot be reached' };
  }

  #changed({ unit, decision }: Hold): HoldChange | undefined {
    this.#requested.delete(unit);
    if (this.#notStopped.get(unit) === decision) {
      this.#notStopped.delete(unit);
      return 'not stopped';
    }
    const loaded = this.units.unit(unit);
    if (loaded === undefined || loaded.stale) return undefined;
    if (loaded.activeState === 'inactive' || loaded.activeState === 'failed') this.#stopped.set(unit, decision);
    const isBack = loaded.activeState === 'active' && this.#stopped.get(unit) === decision;
    if (isBack) this.#stopped.delete(unit);
    return isBack ? 'started elsewhere' : undefined;
  }
}

/** The input of a step about the units that are kept stopped; nothing where there are none. */
export function heldInput(releases: Releases | undefined, held: State['held']): Pick<StepInput, 'unitsOutOfReach' | 'holdChanges'> {
  if (held.size === 0) return {};
  return { unitsOutOfReach: releases?.isDisconnected ?? true, holdChanges: releases?.holdChanges(held) ?? new Map<string, HoldChange>() };
}
