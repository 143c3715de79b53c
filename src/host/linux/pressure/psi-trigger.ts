import { WHOLE_SHARE, pressureParts, type PressureSignal, type StallKind } from '../../../core/signal/signal.js';
import { errnoName } from '../../../errors.js';
import type { Binding, OnWake, Watch } from '../../../native/binding.js';
import { allowedPsiWindow, PSI_PERIOD_US, SHORTEST_PSI_WINDOW_US } from './pressure.js';
import { refusal, type WatchFailure, WatchSlot, type SlotState, type SlotWake } from '../sampling/watch-slot.js';

interface Total {
  readonly timeNs: bigint;
  readonly stalledUs: bigint;
}

/** The maximum number of entries in one window; more add no precision. */
const PARTS = 16n;
/** A reading that is due after a window may be late by this part of it. */
const LATE_PART = 2n;
/**
 * The last readings of one `total=`, to know the share of the window before any moment by interpolation. A gap of more
 * than a window and a half is not interpolated: a stall before the window must not count in it. A gap without a stall
 * may be of any length.
 */
export class StallRing {
  #totals: Total[] = [];

  constructor(private readonly windowNs: bigint) {}

  /**
   * Adds a reading. Returns the share of the window before it in billionths of wall time; undefined: the reading at its
   * start is unknown.
   */
  add(timeNs: bigint, stalledUs: bigint): bigint | undefined {
    const newest = this.#totals.at(-1);
    // A recreated cgroup counts from 0.
    if (newest !== undefined && (stalledUs < newest.stalledUs || timeNs < newest.timeNs)) this.#totals = [];
    const now = { timeNs, stalledUs };
    const beginNs = timeNs - this.windowNs;
    const first = this.#totals.findLastIndex((total) => total.timeNs <= beginNs);
    if (first > 0) this.#totals.splice(0, first);
    const share = first === -1 ? undefined : this.#share(now, beginNs);
    const last = this.#totals.at(-1);
    if (last === undefined || timeNs - last.timeNs >= this.windowNs / PARTS) this.#totals.push(now);
    return share;
  }

  /** The share since `beginNs`, which lies between the two oldest readings. */
  #share(now: Total, beginNs: bigint): bigint | undefined {
    const [before = now, after = now] = this.#totals;
    const gapNs = after.timeNs - before.timeNs;
    const stalledUs = after.stalledUs - before.stalledUs;
    if (stalledUs > 0n && gapNs > this.windowNs + this.windowNs / LATE_PART) return undefined;
    const lostUs = gapNs === 0n ? 0n : (stalledUs * (beginNs - before.timeNs)) / gapNs;
    const share = ((now.stalledUs - before.stalledUs - lostUs) * 1_000n * WHOLE_SHARE) / this.windowNs;
    return share > WHOLE_SHARE ? WHOLE_SHARE : share;
  }
}

interface Stall {
  readonly kind: StallKind;
  readonly windowUs: number;
  /** @param windowUs  the permitted window */
  readonly stallUs: (windowUs: number) => number;
  readonly text: (armedUs: number | undefined) => string;
  readonly explain: (error: unknown) => WatchFailure;
}

/** A PSI trigger, with the shortest permitted window that is not shorter than the wanted one. */
export class StallTrigger {
  readonly #slot: WatchSlot;
  /** undefined: not tried yet. */
  #armedUs: number | undefined;

  constructor(
    private readonly native: Binding,
    private readonly file: string,
    private readonly stall: Stall,
    wake: SlotWake,
  ) {
    this.#slot = new WatchSlot('psi_trigger', native.WAKE.GONE, wake);
  }

  get live(): boolean {
    return this.#slot.live;
  }

  /** True: it was armed anew. */
  arm(): boolean {
    if (this.#slot.live) return false;
    const { kind, windowUs, stallUs, explain } = this.stall;
    const open = (onWake: OnWake): Watch => {
      const allowedUs = (this.#armedUs = allowedPsiWindow(this.native, this.file, kind, windowUs));
      return new this.native.PsiTrigger(this.file, { kind, stallUs: stallUs(allowedUs), windowUs: allowedUs }, onWake);
    };
    return this.#slot.open(this.file, open, explain);
  }

  state(): SlotState {
    return this.#slot.state(`${this.stall.text(this.#armedUs)} in ${this.file}`, false);
  }

  close(): void {
    this.#slot.close();
  }
}

const ms = (us: number): string => String(us / 1000);

/**
 * A trigger for a threshold of pressure, which is read before it counts. An average rises above a value only while some of its
 * periods are above it, so the trigger serves averages, too, and wakes again with every period.
 *
 * @param share  billionths of wall time
 */
export function thresholdTrigger(
  native: Binding,
  file: string,
  { signal, share }: { readonly signal: PressureSignal; readonly share: bigint },
  windowNs: bigint,
  wake: SlotWake,
): StallTrigger {
  const { kind, average } = pressureParts(signal);
  const windowUs = average === '' ? Number(windowNs / 1_000n) : PSI_PERIOD_US;
  // The kernel wants at least 1 µs. Where the window has to be longer than wanted, the stall stays: rather too early.
  const stallUs = Math.max(Math.floor((Number(share) / 1e9) * windowUs), 1);
  const text = (armedUs = windowUs): string => `${kind} ${ms(stallUs)} ms of ${ms(armedUs)} ms`;
  return new StallTrigger(native, file, { kind, windowUs, stallUs: () => stallUs, text, explain: refusal }, wake);
}

/**
 * A further reason to read the node: tasks wait for memory, for a tenth of the shortest permitted window.
 *
 * @param file  /proc/pressure/memory, or memory.pressure of a v2 cgroup
 */
export function memoryStallTrigger(native: Binding, file: string, wake: SlotWake): StallTrigger {
  const text = (armedUs?: number): string => `some 10 % of ${armedUs === undefined ? 'a window' : `${ms(armedUs)} ms`}`;
  const explain = (error: unknown): WatchFailure => {
    const errno = errnoName(error);
    if (errno !== 'ENOENT' && errno !== 'EOPNOTSUPP') return refusal(error);
    return { reason: `${file}: this kernel does not measure pressure`, hint: 'boot with psi=1, on a kernel with CONFIG_PSI' };
  };
  const stallUs = (windowUs: number): number => windowUs / 10;
  return new StallTrigger(native, file, { kind: 'some', windowUs: SHORTEST_PSI_WINDOW_US, stallUs, text, explain }, wake);
}
