import type { MemoryHoldings } from '../core/budget/growth-base.js';
import type { StepInput } from '../core/decide/step-input.js';
import type { Policy, State } from '../core/decide/state.js';
import { step } from '../core/decide/step.js';
import type { Observations } from '../core/signal/observation.js';
import type { Candidates } from '../core/workload/workload.js';
import { sendsSignal } from './effects/run.js';
import { EFFECTS } from './effects/table.js';
import type { Node, StepAnswers, StepReport, Wake } from './ports/ports.js';
import type { PassTimes } from './ports/sent-signals.js';
import type { StandingOrders } from './standing-orders.js';

interface Answering {
  readonly wake: Pick<Wake, 'source'>;
  readonly node: Pick<Node, 'read'>;
  readonly candidates: () => Candidates;
  readonly outside?: StepInput['outside'];
  readonly orders: Pick<StandingOrders, 'take' | 'withdraw'> | undefined;
}

/**
 * Makes a step. Before it sends a signal, the standing order is withdrawn. If that has been carried out meanwhile, the
 * step is made again with it, so that there is no second victim.
 */
export function stepOn(
  policy: Policy,
  state: State,
  readings: Omit<StepInput, 'nowNs' | 'ordered' | 'resumed' | keyof StepAnswers>,
  { wake, node, candidates, outside, orders }: Answering,
) {
  const resumed = wake.source === 'resume' && ({ resumed: true } as const);
  let ordered = orders?.take();
  for (;;) {
    const { answers, given, times } = answersOf(node, candidates, outside);
    const input = { ...readings, nowNs: process.hrtime.bigint(), ...(ordered && { ordered }), ...resumed, ...answers };
    const result = step(policy, state, input);
    if (ordered !== undefined || !sendsSignal(EFFECTS, result.effects) || orders?.withdraw() !== false)
      return { input, given, times, result };
    ordered = orders.take();
  }
}

/** The answers that a step may ask for while it decides, and those that it was given, in order. */
export interface Answers {
  readonly answers: StepAnswers;
  readonly given: Pick<StepReport, 'candidates' | 'lastLooks' | 'outside'>;
  readonly times: Pick<PassTimes, 'candidatesNs'>;
}

export function answersOf(node: Pick<Node, 'read'>, candidates: () => Candidates, outside?: StepInput['outside']): Answers {
  const given = { candidates: [] as Candidates[], lastLooks: [] as Observations[], outside: [] as (MemoryHoldings | undefined)[] };
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
      ...(outside && { outside: (above) => remembered(given.outside, outside(above)) }),
    },
  };
}
