import { pausesIn, withoutPauses } from '../budget/lifted-pauses.js';
import type { Effect } from '../decide/effect.js';
import type { Policy, State } from '../decide/state.js';
import type { StepInput } from '../decide/step-input.js';
import { EVERYTHING, type OperatorPause, type PauseRequest } from './operator-pause.js';

export interface PauseStepResult {
  readonly state: State;
  readonly effects: readonly Effect[];
}

/** The beginning of a step: an operator ends all pauses or begins one, and those whose time is over end. */
export function stepPauses(policy: Policy, before: State, input: StepInput): PauseStepResult {
  if (!input.resumed) return withRequest(policy, before, input);
  const { state, effects } = withRequest(policy, withoutPauses(before), input);
  return { state, effects: [{ kind: 'resume', lifted: pausesIn(before), ...input.resumed }, ...effects] };
}

function withRequest(policy: Policy, before: State, { nowNs, bootNs, pause: request }: StepInput): PauseStepResult {
  if (bootNs === undefined) return { state: before, effects: [] };
  const over = [...before.pauses].filter(([, pause]) => endBootNs(policy, pause) <= bootNs);
  if (over.length === 0 && request === undefined) return { state: before, effects: [] };
  const pauses = new Map([...before.pauses].filter((entry) => !over.some(([path]) => path === entry[0])));
  const effects = over.map(([, pause]): Effect => {
    const because = endBootNs(policy, pause) < pause.endsBootNs ? 'limit' : 'time';
    return { kind: 'pause', event: 'end', pause, because };
  });
  if (request !== undefined) {
    const pause = begun(request, nowNs, bootNs);
    pauses.set(request.workload?.path ?? EVERYTHING, pause);
    effects.push({ kind: 'pause', event: 'begin', pause });
  }
  return { state: { ...before, pauses, settled: pauses.has(EVERYTHING) ? before.settled : withoutAlerts(before.settled) }, effects };
}

function begun({ forNs, ...request }: PauseRequest, nowNs: bigint, bootNs: bigint): OperatorPause {
  return { ...request, beganBootNs: bootNs, endsBootNs: bootNs + forNs, atNs: nowNs };
}

/** The next pause alerts again. */
function withoutAlerts(settled: State['settled']): State['settled'] {
  return new Map([...settled].filter(([key]) => !key.startsWith('paused ')));
}

/** No pause is longer than the configuration in force permits, whatever was asked for or saved. */
function endBootNs({ maxPauseNs }: Policy, { beganBootNs, endsBootNs }: OperatorPause): bigint {
  if (maxPauseNs === undefined || beganBootNs + maxPauseNs >= endsBootNs) return endsBootNs;
  return beganBootNs + maxPauseNs;
}

/** When the next pause ends if the machine does not sleep before; undefined: there is none. */
export function pauseDueNs(policy: Policy, { pauses }: State, { nowNs, bootNs }: StepInput): bigint | undefined {
  if (bootNs === undefined) return undefined;
  let due: bigint | undefined;
  for (const pause of pauses.values()) {
    const endNs = nowNs + endBootNs(policy, pause) - bootNs;
    if (due === undefined || endNs < due) due = endNs;
  }
  return due;
}
