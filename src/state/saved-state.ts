import type { Hold } from '../core/systemd/unit-hold.js';
import { initialState, type Policy, type State } from '../core/decide/state.js';
import { takeOver } from '../core/decide/remembered-state.js';
import type { TaintEvictions } from '../core/disruption/taint-eviction.js';
import { briefTaintEvictions } from './brief-taint-evictions.js';
import { fromJson, toJson } from '../storage/tagged-json.js';
import { restoredParts, savedParts, savedStateProblem, type SavedParts } from './saved-parts.js';
import type { SentSignals } from '../monitor/ports/sent-signals.js';

/** Raised when an older evictd could not read the file, or would read it wrongly. */
const FORMAT = 4;
/** Had evictions by taints without brevity; see `current`. */
const FORMER = 3;
const READ: readonly unknown[] = [FORMER, FORMAT];

/** Whose state it is. A state of another owner is not used. */
export interface StateOwner {
  readonly node: string;
  /** The id of the node cgroup: one that was removed and made again is another node. '': the machine. */
  readonly cgroupId: string;
  /** '': not known; no state is used then. */
  readonly bootId: string;
}

/** The two clocks at one moment. `bootNs`: CLOCK_BOOTTIME, which includes the machine's sleep. */
export interface Clocks {
  readonly monotonicNs: bigint;
  readonly bootNs: bigint;
}

/** What evictd saves for the next evictd on this node and boot. */
export interface SavedState {
  readonly state: SavedParts;
  readonly signals: ReadonlyMap<number, SentSignals>;
  /** What others save in the same file, by name. */
  readonly sections: Readonly<Record<string, unknown>>;
}

export interface RestoredState {
  readonly state: State;
  readonly signals: ReadonlyMap<number, SentSignals>;
  /** By serial: why an eviction in flight is not continued. */
  readonly abandoned: ReadonlyMap<number, string>;
  readonly sections: Readonly<Record<string, unknown>>;
  /** Why a saved state was not used; undefined: it was, or there was none. */
  readonly discarded: string | undefined;
}

export const NOTHING_RESTORED: RestoredState = {
  state: initialState,
  signals: new Map(),
  abandoned: new Map(),
  sections: {},
  discarded: undefined,
};

type Contents = SavedState & { readonly clocks: Clocks };

export function savedStateText(owner: StateOwner, clocks: Clocks, saved: SavedState): string {
  return JSON.stringify({ format: FORMAT, ...owner, ...(toJson({ clocks, ...saved }) as object) });
}

/** Never throws: what cannot be understood is discarded, because evictd has to start. */
export function restoreState(text: string, owner: StateOwner, policy: Policy, now: Clocks): RestoredState {
  const discarded = (reason: string): RestoredState => ({ ...NOTHING_RESTORED, discarded: reason });
  try {
    const { node, cgroupId, bootId, contents } = parse(text);
    if (node !== owner.node) return discarded(`it is of another node (${JSON.stringify(node)})`);
    if (owner.bootId === '') return discarded('the boot id of this machine is not known');
    if (bootId !== owner.bootId) return discarded('it is of another boot');
    if (cgroupId !== owner.cgroupId) return discarded('it is of another node cgroup, which had the same name');
    const { clocks: then, state: before, signals, sections } = checked(contents);
    const awayNs = now.bootNs - then.bootNs;
    const sleptNs = awayNs - (now.monotonicNs - then.monotonicNs);
    if (awayNs < 0n || now.monotonicNs < then.monotonicNs) return discarded('its clocks are ahead of those of this machine');
    const taken = takeOver(policy, { ...initialState, ...before }, { awayNs, sleptNs: sleptNs > 0n ? sleptNs : 0n }, now.monotonicNs);
    return { ...NOTHING_RESTORED, ...taken, signals, sections };
  } catch (error) {
    return discarded(error instanceof StateError ? error.message : `it is not a state of evictd: ${String(error)}`);
  }
}

/**
 * The node of a saved state, and the units that it keeps stopped: none where it is of another boot. Throws where it
 * cannot be understood.
 */
export function heldIn(text: string, bootId: string): { readonly node: string; readonly holds: readonly Hold[] } {
  const { contents, ...owner } = parse(text);
  const { held } = completed(contents).state;
  return { node: owner.node, holds: owner.bootId === bootId ? [...held.values()] : [] };
}

/** The same saved state, without these units among those that are kept stopped. */
export function withoutHeld(text: string, units: ReadonlySet<string>): string {
  const { contents, ...owner } = parse(text);
  const { clocks, state, ...rest } = completed(contents);
  const held = new Map([...state.held].filter(([unit]) => !units.has(unit)));
  return savedStateText(owner, clocks, { ...rest, state: { ...state, held } });
}

/** The file can be read and is not what this evictd writes; the message says why. */
class StateError extends Error {}

function parse(text: string): StateOwner & { readonly contents: Readonly<Record<string, unknown>> } {
  const { format, node, cgroupId, bootId, ...contents } = JSON.parse(text) as StateOwner & Record<string, unknown>;
  if (READ.includes(format)) return { node, cgroupId, bootId, contents };
  throw new StateError(`it has format ${JSON.stringify(format)}, and this evictd reads the formats ${READ.join(' and ')}`);
}

function checked(contents: Readonly<Record<string, unknown>>): Contents {
  const saved = current(fromJson(contents));
  const problem = savedStateProblem(saved);
  if (problem !== undefined) throw new StateError(`it is not a state of evictd: ${problem} is invalid`);
  const { state, ...rest } = saved as Contents;
  return { ...rest, state: restoredParts(state) as SavedParts };
}

/** What an evictd of the former format has written. */
function current(saved: unknown): unknown {
  const { state, ...rest } = (saved ?? {}) as { readonly state?: { readonly taintEvictions?: unknown } };
  if (!(state?.taintEvictions instanceof Map)) return saved;
  return { ...rest, state: { ...state, taintEvictions: briefTaintEvictions(state.taintEvictions as TaintEvictions) } };
}

function completed(contents: Readonly<Record<string, unknown>>): Contents {
  const saved = checked(contents);
  return { ...saved, state: savedParts({ ...initialState, ...saved.state }) };
}
