import type { Hold } from '../core/restart-storm.js';
import { remembered, takeOver, type Remembered } from '../core/takeover.js';
import { initialState, type Policy, type State } from '../core/state.js';
import { BEQUEST } from './bequest-shape.js';
import { fromJson, toJson } from './recording/value.js';
import type { SentSignals } from './victims.js';

/** Raised when an evictd of before could not go on with it, or would do so wrongly. */
const FORMAT = 2;

/** Whose state it is: another's is worth nothing. */
export interface StateOwner {
  readonly node: string;
  /** The id of the node cgroup: one that was removed and made again is another node. '': the machine. */
  readonly cgroupId: string;
  /** '': not known; nothing is taken over then. */
  readonly bootId: string;
}

/** The two clocks at one moment. `bootNs`: CLOCK_BOOTTIME, which goes on while the machine sleeps. */
export interface Clocks {
  readonly monotonicNs: bigint;
  readonly bootNs: bigint;
}

/** What one evictd leaves to the next one on this node and boot. */
export interface Bequest {
  readonly remembered: Remembered;
  /** By serial, of the evictions in flight. */
  readonly signals: ReadonlyMap<number, SentSignals>;
  /** What others keep in it, each under a name of its own. */
  readonly sections: Readonly<Record<string, unknown>>;
}

/** What an evictd begins with. */
export interface Inheritance {
  readonly state: State;
  readonly signals: ReadonlyMap<number, SentSignals>;
  /** By serial: why an eviction in flight does not go on. */
  readonly abandoned: ReadonlyMap<number, string>;
  readonly sections: Readonly<Record<string, unknown>>;
  /** Why what was found was not taken over; undefined: it was, or there was nothing. */
  readonly discarded: string | undefined;
}

export const NOTHING_INHERITED: Inheritance = {
  state: initialState,
  signals: new Map(),
  abandoned: new Map(),
  sections: {},
  discarded: undefined,
};

export function bequestText(owner: StateOwner, clocks: Clocks, bequest: Bequest): string {
  return JSON.stringify({ format: FORMAT, ...owner, ...(toJson({ clocks, ...bequest }) as object) });
}

/** Never throws: what cannot be understood is discarded, for evictd has to start. */
export function inherit(text: string, owner: StateOwner, policy: Policy, now: Clocks): Inheritance {
  const discarded = (reason: string): Inheritance => ({ ...NOTHING_INHERITED, discarded: reason });
  try {
    const { format, node, cgroupId, bootId, ...rest } = JSON.parse(text) as Record<string, unknown>;
    if (format !== FORMAT) return discarded(otherFormat(format));
    if (node !== owner.node) return discarded(`it is of another node (${JSON.stringify(node)})`);
    if (owner.bootId === '') return discarded('it cannot be told whether it is of this boot');
    if (bootId !== owner.bootId) return discarded('it is of another boot');
    if (cgroupId !== owner.cgroupId) return discarded('it is of another node cgroup, which had the same name');
    const bequest = fromJson(rest);
    const problem = BEQUEST(bequest, '');
    if (problem !== undefined) return discarded(`it is not what evictd writes: ${problem || 'the whole'} is something else`);
    const { clocks: then, remembered: before, signals, sections } = bequest as Bequest & { readonly clocks: Clocks };
    const awayNs = now.bootNs - then.bootNs;
    const sleptNs = awayNs - (now.monotonicNs - then.monotonicNs);
    if (awayNs < 0n || now.monotonicNs < then.monotonicNs) return discarded('it is of a time that is still to come');
    // What an older evictd did not remember yet is as at the beginning.
    const taken = takeOver(policy, { ...initialState, ...before }, { awayNs, sleptNs: sleptNs > 0n ? sleptNs : 0n }, now.monotonicNs);
    return { ...taken, signals, sections, discarded: undefined };
  } catch (error) {
    return discarded(`it is not what evictd writes: ${String(error)}`);
  }
}

/** What a state says is kept stopped, and on which node; nothing where it is of another boot. Throws where it cannot be understood. */
export function heldIn(text: string, bootId: string): { readonly node: string; readonly holds: readonly Hold[] } {
  const state = stateOf(text);
  return { node: state.node, holds: state.bootId === bootId ? [...state.remembered.held.values()] : [] };
}

/** The same state, in which these units are not kept stopped any more. */
export function withoutHeld(text: string, units: ReadonlySet<string>): string {
  const { node, cgroupId, bootId, clocks, ...bequest } = stateOf(text);
  const held = new Map([...bequest.remembered.held].filter(([unit]) => !units.has(unit)));
  return bequestText({ node, cgroupId, bootId }, clocks, { ...bequest, remembered: { ...bequest.remembered, held } });
}

function stateOf(text: string): StateOwner & Bequest & { readonly clocks: Clocks } {
  const { format, node, cgroupId, bootId, ...rest } = JSON.parse(text) as StateOwner & Record<string, unknown>;
  if (format !== FORMAT) throw new Error(otherFormat(format));
  const whole = fromJson(rest);
  const problem = BEQUEST(whole, '');
  if (problem !== undefined) throw new Error(`it is not what evictd writes: ${problem || 'the whole'} is something else`);
  const bequest = whole as Bequest & { readonly clocks: Clocks };
  return { node, cgroupId, bootId, ...bequest, remembered: { ...remembered(initialState), ...bequest.remembered } };
}

function otherFormat(format: unknown): string {
  return `it has format ${JSON.stringify(format)}, and this evictd reads format ${String(FORMAT)}`;
}
