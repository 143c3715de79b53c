import type * as z from 'zod/mini';
import type { State } from '../core/decide/state.js';
import { isWaiting } from '../core/decide/remembered-state.js';
import { savedStateText, type StateOwner } from './saved-state.js';
import { savedParts, shortened, significance } from './saved-parts.js';
import type { StateFile } from './state-file.js';
import type { SentSignals } from '../monitor/ports/sent-signals.js';
import { asError } from '../errors.js';

/** The precision of the times at which something was last seen. */
const REFRESH_NS = 1_000_000_000n;

export interface StateKeeperOptions {
  readonly file: Pick<StateFile, 'fits' | 'write'>;
  readonly owner: StateOwner;
  readonly bootNs: () => bigint;
  /** What features have saved, from the evictd before. */
  readonly sections: Readonly<Record<string, unknown>>;
  /** At the first of several failures in a row. */
  readonly onError: (error: Error) => void;
  /** Not all fits, and other parts are left out than before: what the next evictd would not know. Empty: all fits again. */
  readonly onShortened: (unknown: readonly string[]) => void;
}

/** What a feature saves in the same file: values as of recording/value.ts. */
export interface SavedSection<Entry> {
  /** The entries from the evictd before, on this boot. */
  readonly before: readonly Entry[];
  /** Written at once. Never throws. undefined removes the section. */
  keep(value: unknown): void;
}

/** Saves the state whenever it has changed. Never throws: an eviction continues without it. */
export class StateKeeper {
  readonly #sections: Map<string, unknown>;
  #last: { readonly state: State; readonly signals: ReadonlyMap<number, SentSignals> } | undefined;
  #significance = '';
  #writtenNs = 0n;
  #failing = false;
  #unknown: readonly string[] = [];

  constructor(private readonly options: StateKeeperOptions) {
    this.#sections = new Map(Object.entries(options.sections));
  }

  /** @param entry  entries of another shape are left out */
  section<Entry>(name: string, entry: () => z.ZodMiniType<Entry>): SavedSection<Entry> {
    const saved = this.options.sections[name];
    const schema = saved === undefined ? undefined : entry();
    return {
      before: [saved].flat().flatMap((one) => schema?.safeParse(one).data ?? []),
      keep: (value) => {
        if (value === undefined) this.#sections.delete(name);
        else this.#sections.set(name, value);
        if (this.#last) this.keep(this.#last.state, this.#last.signals);
      },
    };
  }

  /** Writes before it returns: called before effects are performed. */
  keep(state: State, signals: ReadonlyMap<number, SentSignals>): void {
    this.#last = { state, signals };
    this.#significance = significanceOf(state, signals);
    this.#writtenNs = process.hrtime.bigint();
    try {
      const { text, unknown } = this.#fitting(state, signals);
      this.options.file.write(text);
      if (unknown.length !== this.#unknown.length) this.options.onShortened(unknown);
      this.#unknown = unknown;
      this.#failing = false;
    } catch (error) {
      this.#significance = ''; // the next step tries again
      if (!this.#failing) this.options.onError(asError(error));
      this.#failing = true;
    }
  }

  /**
   * After a step: writes where something has changed, and once a second while time counts (a threshold is met, say).
   */
  follow(state: State, signals: ReadonlyMap<number, SentSignals>, nowNs: bigint): void {
    const isDue = isWaiting(state) && nowNs - this.#writtenNs >= REFRESH_NS;
    if (isDue || significanceOf(state, signals) !== this.#significance) this.keep(state, signals);
    else this.#last = { state, signals };
  }

  /** Removes units that were started again: for after the last step. */
  forgetHeld(units: ReadonlySet<string>): void {
    if (this.#last === undefined) return;
    const { state, signals } = this.#last;
    this.keep({ ...state, held: new Map([...state.held].filter(([unit]) => !units.has(unit))) }, signals);
  }

  /** The text that would be written, without sections. What does not fit is written without the parts that can be left out. */
  text(state: State, signals: ReadonlyMap<number, SentSignals>): string {
    return this.#fitting(state, signals, {}).text;
  }

  #fitting(
    state: State,
    signals: ReadonlyMap<number, SentSignals>,
    sections = Object.fromEntries(this.#sections),
  ): { readonly text: string; readonly unknown: readonly string[] } {
    const { file, owner, bootNs } = this.options;
    const clocks = { monotonicNs: process.hrtime.bigint(), bootNs: bootNs() };
    const textOf = (saved: State): string => savedStateText(owner, clocks, { state: savedParts(saved), signals, sections });
    let fitting = { text: textOf(state), unknown: [] as readonly string[] };
    for (const { shorter, unknown } of shortened(state)) {
      if (file.fits(fitting.text)) break;
      fitting = { text: textOf(shorter), unknown };
    }
    return fitting;
  }
}

function significanceOf(state: State, signals: ReadonlyMap<number, SentSignals>): string {
  const own = significance(state);
  return signals.size === 0 ? own : `${own}\n${[...signals].map(([serial, { sent }]) => `${String(serial)} ${sent ?? ''}`).join()}`;
}
