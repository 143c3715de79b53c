import type { Observation } from '../../../core/signal/observation.js';
import type { Stall } from '../../../core/signal/pressure-share.js';
import {
  isOwnAmount,
  isPressure,
  OWN_AMOUNT_SIGNALS,
  pressureParts,
  STALL_KINDS,
  STALL_RESOURCES,
  WHOLE_SHARE,
  type OwnAmountSignal,
  type PressureSignal,
  type Signal,
  type StallResource,
} from '../../../core/signal/signal.js';
import { operandsOf, resolve, type Operand, type Threshold } from '../../../core/threshold/threshold.js';
import type { NotifierState, Wake } from '../../../monitor/ports/ports.js';
import type { Binding } from '../../../native/binding.js';
import { KernelPass, type Missing } from '../sampling/kernel-source.js';
import { levelResources } from '../sampling/level.js';
import type { NotifierMode } from '../sampling/notifier-mode.js';
import { pressureSource, type PressurePlace, type StallLine } from './pressure.js';
import { SignalSamplers, type SampledResource } from '../sampling/signal-sampler.js';
import type { SlotWake } from '../sampling/watch-slot.js';
import { StallRing, thresholdTrigger, type StallTrigger } from './psi-trigger.js';
import type { AmountSource } from '../memory/swap.js';

/** The places of a node's pressure, swap and kernel-available memory. */
export interface PressureAndSwapPlan {
  readonly pressure: PressurePlace;
  readonly amounts: Readonly<Record<OwnAmountSignal, AmountSource>>;
  /** The window of a pressure signal without a suffix. */
  readonly windowNs: bigint;
}

/** Readings per window: the precision of a share. */
const LOOKS_PER_WINDOW = 4n;
/**
 * A share below this part of its limit is calm. The time between two rare looks then has a stall of less than a quarter of
 * the limit. Wherever in it the stall was, a crossing reads as at least three quarters, and the next look comes soon.
 */
const CALM_PART = 4n;
/** How often the kernel updates its averages (kernel/sched/psi.c, PSI_FREQ). */
const AVERAGES_MOVE_NS = 2_000_000_000n;

/**
 * Signals that the kubelet does not have, read only where a threshold asks for them. A share of the last seconds needs
 * readings in between (`look`), which also find a crossing; the kernel's trigger wakes sooner. While nothing points to
 * pressure and all triggers are live, a window has one look.
 */
export class PressureAndSwap {
  readonly #native: Binding;
  readonly #plan: PressureAndSwapPlan;
  readonly #mode: NotifierMode;
  readonly #sources: Readonly<Record<StallResource, ReturnType<typeof pressureSource>>>;
  #requested: readonly Signal[] = [];
  #limits: readonly Operand[] = [];
  /** The operands of each threshold with pressure. */
  #joined: readonly (readonly Operand[])[] = [];
  /** The pressure that may meet a threshold until the next decision; undefined: there was none yet. */
  #mayBeMet: readonly Operand[] | undefined;
  #pass: KernelPass | undefined;
  /** undefined: not asked for yet. */
  #stalls: KernelPass | undefined;
  #rings = new Map<PressureSignal, StallRing>();
  #triggers = new Map<string, { readonly signal: PressureSignal; readonly trigger: StallTrigger }>();
  readonly #samplers: SignalSamplers;
  /** When pressure is read next; undefined: no pressure is asked for. */
  #lookAtNs: bigint | undefined;
  #lookEveryNs = AVERAGES_MOVE_NS;
  #calmLookEveryNs = AVERAGES_MOVE_NS;
  /** Which operands of pressure the last decision found met. */
  #met = '';
  #onWake: (wake: Wake) => void = () => undefined;

  constructor(native: Binding, plan: PressureAndSwapPlan, mode: NotifierMode) {
    this.#native = native;
    this.#samplers = new SignalSamplers(native);
    this.#plan = plan;
    this.#mode = mode;
    const { fileOf } = plan.pressure;
    this.#sources = { memory: pressureSource(fileOf('memory')), io: pressureSource(fileOf('io')), cpu: pressureSource(fileOf('cpu')) };
  }

  /** @returns whether something was armed or moved, or is read for the first time */
  arm(thresholds: readonly Threshold[], onWake: (wake: Wake) => void): boolean {
    this.#onWake = onWake;
    this.#limits = thresholds.flatMap(operandsOf).filter(({ signal }) => isPressure(signal) || isOwnAmount(signal));
    this.#joined = thresholds.map(operandsOf).filter((operands) => operands.some(({ signal }) => isPressure(signal)));
    const requested = this.#ask([...new Set(this.#limits.map(({ signal }) => signal))]);
    this.#pass?.read();
    const triggers = this.#armTriggers();
    const samplers = this.#samplers.arm(this.#limits, this.#resources(), onWake);
    return requested || triggers || samplers;
  }

  /** Does not replace a look: the read may be a rehearsal. */
  read(timeNs: bigint): [Signal, Observation | Missing][] {
    if (this.#pass === undefined) return [];
    this.#pass.read();
    const readings = this.#requested.map((signal): [Signal, Observation | Missing] => [signal, this.#read(signal, timeNs)]);
    this.#samplers.seen(this.#resources());
    return readings;
  }

  /**
   * When the next reading is due between ticks. Without a trigger (a dry run, a refusal) only these readings find an
   * average that crosses its limit.
   */
  get lookAtNs(): bigint | undefined {
    return this.#lookAtNs;
  }

  /** @returns whether a threshold of pressure was crossed since the last decision */
  look(timeNs: bigint): boolean {
    const readings = this.read(timeNs);
    const observed = new Map(readings.flatMap(([signal, reading]) => ('missing' in reading ? [] : [[signal, reading] as const])));
    if (this.#lookAtNs !== undefined) this.#lookAtNs = timeNs + this.#restNs(observed);
    return this.#metAmong(observed) !== this.#met;
  }

  /** A decision was made on these readings. Until the next one, pressure is read only where it may meet a threshold. */
  decided(observed: ReadonlyMap<Signal, Observation>, timeNs: bigint): void {
    this.#met = this.#metAmong(observed);
    const joined = this.#joined.filter((operands) => !isAmountNotMet(operands, observed));
    this.#mayBeMet = joined.flat().filter(({ signal }) => isPressure(signal));
    this.#lookAtNs = joined.length > 0 && this.#mode !== 'probe' ? timeNs + this.#restNs(observed) : undefined;
  }

  /** All lines of the pressure files now; those that the kernel does not have are left out. Keeps the files open. */
  stalls(): Stall[] {
    this.#stalls ??= new KernelPass(this.#native, Object.values(this.#sources));
    const pass = this.#stalls;
    pass.read();
    return STALL_RESOURCES.flatMap((resource) => {
      const lines = pass.of(this.#sources[resource]);
      return STALL_KINDS.flatMap((kind) => {
        const line = lines[kind];
        return 'missing' in line ? [] : [{ resource, kind, seconds: Number(line.totalUs) / 1e6, averages: averagesOf(line.percent) }];
      });
    });
  }

  states(): NotifierState[] {
    return [...[...this.#triggers.values()].map(({ signal, trigger }) => ({ ...trigger.state(), signal })), ...this.#samplers.states()];
  }

  close(): void {
    this.#lookAtNs = undefined;
    for (const { trigger } of this.#triggers.values()) trigger.close();
    this.#triggers.clear();
    this.#samplers.close();
    this.#pass?.close();
    this.#pass = undefined;
    this.#stalls?.close();
    this.#stalls = undefined;
    this.#requested = [];
    this.#rings.clear();
  }

  /** Opens the sources of these signals, if they changed. */
  #ask(signals: readonly Signal[]): boolean {
    if (signals.length === this.#requested.length && signals.every((signal) => this.#requested.includes(signal))) return false;
    this.#requested = signals;
    this.#pass?.close();
    const pressure = signals.filter(isPressure);
    const resources = [...new Set(pressure.map((signal) => pressureParts(signal).resource))];
    const sources = [
      ...resources.map((resource) => this.#sources[resource]),
      ...signals.filter(isOwnAmount).map((signal) => this.#plan.amounts[signal]),
    ];
    this.#pass = sources.length === 0 ? undefined : new KernelPass(this.#native, sources);
    const windowed = pressure.filter((signal) => pressureParts(signal).average === '');
    this.#rings = new Map(windowed.map((signal) => [signal, this.#rings.get(signal) ?? new StallRing(this.#plan.windowNs)]));
    const onlyShares = windowed.length === pressure.length;
    const orAverages = (ns: bigint): bigint => (onlyShares || (windowed.length > 0 && ns < AVERAGES_MOVE_NS) ? ns : AVERAGES_MOVE_NS);
    this.#lookEveryNs = orAverages(this.#plan.windowNs / LOOKS_PER_WINDOW);
    this.#calmLookEveryNs = orAverages(this.#plan.windowNs);
    this.#lookAtNs = pressure.length > 0 && this.#mode !== 'probe' ? process.hrtime.bigint() : undefined;
    return true;
  }

  /** How long the next look can wait. Without a trigger it is what finds a crossing. */
  #restNs(observed: ReadonlyMap<Signal, Observation>): bigint {
    const triggers = [...this.#triggers.values()];
    const isWatched = triggers.length > 0 && triggers.every(({ trigger }) => trigger.live);
    const isRare = isWatched && this.#mayBeMet?.every((operand) => isCalm(operand, observed)) === true;
    return isRare ? this.#calmLookEveryNs : this.#lookEveryNs;
  }

  #metAmong(observed: ReadonlyMap<Signal, Observation>): string {
    const met = this.#limits.map(({ signal, value }) => {
      const read = observed.get(signal);
      if (!isPressure(signal) || read === undefined) return '-';
      return read.available > resolve(value, WHOLE_SHARE) ? '1' : '0';
    });
    return met.join('');
  }

  #read(signal: Signal, timeNs: bigint): Observation | Missing {
    const pass = this.#pass;
    if (pass === undefined) return { missing: 'not asked for' };
    if (isOwnAmount(signal)) {
      const amount = pass.of(this.#plan.amounts[signal]);
      if ('missing' in amount) return amount;
      const { available, capacity, source } = amount.narrowest;
      return { available, capacity, source, timeNs };
    }
    return isPressure(signal) ? this.#stall(pass, signal, timeNs) : { missing: 'not asked for' };
  }

  #stall(pass: KernelPass, signal: PressureSignal, timeNs: bigint): Observation | Missing {
    const { resource, kind, average } = pressureParts(signal);
    const line = pass.of(this.#sources[resource])[kind];
    if ('missing' in line) return line;
    const { fileOf, remark } = this.#plan.pressure;
    const place = `${fileOf(resource)}${remark}`;
    const known = { capacity: WHOLE_SHARE, timeNs };
    if (average !== '') {
      return { ...known, available: shareOf(line.percent[average]), source: `${kind} ${average.slice(1)} of ${place}` };
    }
    if (this.#mode === 'probe') {
      return { ...known, available: shareOf(line.percent['.avg10']), source: `${kind} avg10 of ${place}`, standIn: 'avg10' };
    }
    const share = this.#rings.get(signal)?.add(timeNs, line.totalUs);
    const seconds = String(Number(this.#plan.windowNs / 1_000_000n) / 1000);
    if (share === undefined) return { missing: `${place} has not been read for ${seconds} s yet`, pending: true };
    return { ...known, available: share, source: `${kind} total of ${place}, last ${seconds} s` };
  }

  /** A dry run writes to no pressure file. */
  #armTriggers(): boolean {
    const limits = this.#mode === 'sample' ? [] : this.#limits;
    const wanted = new Map<string, { readonly signal: PressureSignal; readonly trigger: StallTrigger }>();
    for (const { signal, value } of limits) {
      if (!isPressure(signal)) continue;
      const share = resolve(value, WHOLE_SHARE);
      const key = `${signal} ${String(share)}`;
      wanted.set(key, this.#triggers.get(key) ?? { signal, trigger: this.#trigger(signal, share) });
    }
    for (const [key, { trigger }] of this.#triggers) if (!wanted.has(key)) trigger.close();
    this.#triggers = wanted;
    return [...wanted.values()].map(({ trigger }) => trigger.arm()).includes(true);
  }

  #trigger(signal: PressureSignal, share: bigint): StallTrigger {
    const file = this.#plan.pressure.fileOf(pressureParts(signal).resource);
    return thresholdTrigger(this.#native, file, { signal, share }, this.#plan.windowNs, this.#wake);
  }

  /** The resources as of the last pass; none if it failed. */
  #resources(): SampledResource[] {
    return OWN_AMOUNT_SIGNALS.flatMap((signal) => {
      const reading = this.#requested.includes(signal) ? this.#pass?.of(this.#plan.amounts[signal]) : undefined;
      return reading === undefined || 'missing' in reading ? [] : levelResources(signal, 'memory', reading.levels);
    });
  }

  readonly #wake: SlotWake = (source, atNs, _detail, approaching) => {
    this.#onWake({ source, atNs, approaching });
  };
}

/** Whether this pressure is known to be far below its limit. */
function isCalm({ signal, value }: Operand, observed: ReadonlyMap<Signal, Observation>): boolean {
  const read = observed.get(signal);
  return read !== undefined && read.available * CALM_PART < resolve(value, WHOLE_SHARE);
}

/** Whether one of the amounts is known not to be met. Its sampler wakes when it is; until then pressure does not count. */
function isAmountNotMet(operands: readonly Operand[], observed: ReadonlyMap<Signal, Observation>): boolean {
  return operands.some(({ signal, value }) => {
    const read = isPressure(signal) ? undefined : observed.get(signal);
    return read !== undefined && read.available >= resolve(value, read.capacity);
  });
}

/** The kernel prints two decimals. */
function shareOf(percent: number): bigint {
  return BigInt(Math.round(percent * 100)) * (WHOLE_SHARE / 10_000n);
}

/** The kernel prints percent with two decimals. */
function averagesOf({ '.avg10': avg10, '.avg60': avg60, '.avg300': avg300 }: StallLine['percent']): Stall['averages'] {
  const ratio = (percent: number): number => Math.round(percent * 100) / 10_000;
  return { avg10: ratio(avg10), avg60: ratio(avg60), avg300: ratio(avg300) };
}
