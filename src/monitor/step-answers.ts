import type { StepInput } from '../core/decide/step-input.js';
import type { Observations } from '../core/signal/observation.js';
import type { Candidates } from '../core/workload/workload.js';
import type { Node, StepReport } from './ports/ports.js';
import type { PassTimes } from './ports/sent-signals.js';

/** The answers that a step may ask for while it decides, and those that it was given, in order. */
export interface Answers {
  readonly answers: Required<Pick<StepInput, 'candidates' | 'lastLook'>>;
  readonly given: Pick<StepReport, 'candidates' | 'lastLooks'>;
  readonly times: Pick<PassTimes, 'candidatesNs'>;
}

export function answersOf(node: Pick<Node, 'read'>, candidates: () => Candidates): Answers {
  const given = { candidates: [] as Candidates[], lastLooks: [] as Observations[] };
  const times: { candidatesNs?: bigint } = {};
  const remembered = <T>(list: T[], answer: T): T => {
    list.push(answer);
    return answer;
  };
  return {
    given,
    times,
    answers: {
      candidates: () => {
        const found = remembered(given.candidates, candidates());
        times.candidatesNs = process.hrtime.bigint();
        return found;
      },
      lastLook: () => remembered(given.lastLooks, node.read()),
    },
  };
}
