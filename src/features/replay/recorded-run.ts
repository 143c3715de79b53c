import type { Effect } from '../../core/decide/effect.js';
import { initialState, type Policy, type State } from '../../core/decide/state.js';
import { step } from '../../core/decide/step.js';
import { NO_CANDIDATES, type Candidates } from '../../core/workload/workload.js';
import type { RecordedCandidates, RecordedStep } from '../../recording/recording-format.js';

/** Replays the recorded run with its policy and inputs. */
export class RecordedRun {
  #policy: Policy | undefined;
  #state: State = initialState;

  get policy(): Policy | undefined {
    return this.#policy;
  }

  get state(): State {
    return this.#state;
  }

  reconfigure(policy: Policy): void {
    this.#policy = policy;
  }

  resume(state: State): void {
    this.#state = state;
  }

  step({
    input,
    observations,
    candidates,
    rechecks,
    outside,
    policyReadings,
    policyRecheck,
    policyWorkloads,
    policyProcesses,
  }: RecordedStep): readonly Effect[] {
    if (this.#policy === undefined) throw new TypeError('a step before any policy');
    let answered = 0;
    const looks = rechecks.values();
    const held = outside.values();
    const result = step(this.#policy, this.#state, {
      ...input,
      observe: () => observations,
      candidates: () => {
        const answer = candidates[Math.min(answered, candidates.length - 1)];
        answered += 1;
        return answer === undefined ? NO_CANDIDATES : candidatesOf(answer);
      },
      recheck: () => looks.next().value,
      policyReadings: () => policyReadings,
      ...(policyRecheck && { policyRecheck: () => policyRecheck }),
      policyWorkloads: () => policyWorkloads ?? [],
      policyProcesses: () => policyProcesses ?? [],
      outside: () => held.next().value,
    });
    this.#state = result.state;
    return result.effects;
  }
}

/** Recorded candidates with their vetoes. */
function candidatesOf({ candidates, managed, vetoes, awaited }: RecordedCandidates): Candidates {
  return {
    ...candidates,
    ...(managed && { managed: () => managed }),
    veto: ({ id }) => vetoes.get(id),
    awaited: ({ id }) => awaited.includes(id),
  };
}
