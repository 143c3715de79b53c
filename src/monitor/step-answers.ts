import type { MemoryHoldings } from '../core/budget/growth-base.js';
import { followsTaints } from '../core/disruption/taint-step.js';
import type { StepInput } from '../core/decide/step-input.js';
import type { Policy, State } from '../core/decide/state.js';
import { step } from '../core/decide/step.js';
import type { Observations } from '../core/signal/observation.js';
import type { Candidates, Workload } from '../core/workload/workload.js';
import { sendsSignal } from './effects/run.js';
import { EFFECTS } from './effects/table.js';
import type { PolicyAnswers, PolicyPort } from './ports/policy-port.js';
import type { Node, StepAnswers, StepReport, Wake } from './ports/ports.js';
import type { PassTimes } from './ports/sent-signals.js';
import type { StandingOrders } from './standing-orders.js';

interface Answering {
  readonly wake: Pick<Wake, 'source' | 'pause' | 'request' | 'by'>;
  readonly bootNs: () => bigint;
  readonly node: Pick<Node, 'read'>;
  readonly candidates: () => Candidates;
  readonly outside?: StepInput['outside'];
  readonly orders?: Pick<StandingOrders, 'take' | 'withdraw'>;
  readonly policies?: PolicyPort | undefined;
}

/**
 * Makes a step. Before it sends a signal, the standing order is withdrawn. If that has been carried out meanwhile, the
 * step is made again with it, so that there is no second victim.
 */
export function stepOn(
  policy: Policy,
  state: State,
  readings: Omit<StepInput, 'nowNs' | 'ordered' | 'resumed' | 'pause' | 'request' | 'bootNs' | 'policyResults' | keyof StepAnswers>,
  { wake, bootNs, node, candidates, outside, orders, policies }: Answering,
) {
  const { source, pause, request, by } = wake;
  const needsBootTime = pause !== undefined || request !== undefined || state.pauses.size > 0 || followsTaints(policy, state);
  const policyResults = policies?.results() ?? [];
  let ordered = orders?.take();
  for (;;) {
    const { answers, given, times } = answersOf(node, candidates, outside, policies);
    const input = {
      ...readings,
      ...(policyResults.length > 0 && { policyResults }),
      nowNs: process.hrtime.bigint(),
      ...(ordered && { ordered }),
      ...(source === 'resume' && { resumed: { by } }),
      ...(pause && { pause }),
      ...(request && { request }),
      ...(needsBootTime && { bootNs: bootNs() }),
      ...answers,
    };
    const result = step(policy, state, input);
    if (ordered !== undefined || !sendsSignal(EFFECTS, result.effects) || orders?.withdraw() !== false)
      return { input, given, times, result };
    ordered = orders.take();
  }
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** The answers that a step may ask for while it decides, and those that it was given, in order. */
export interface Answers {
  readonly answers: StepAnswers;
  readonly given: Pick<StepReport, 'candidates' | 'rechecks' | 'outside' | keyof PolicyAnswers>;
  readonly times: Pick<PassTimes, 'candidatesNs'>;
}

interface Given extends Mutable<PolicyAnswers> {
  readonly candidates: Candidates[];
  readonly rechecks: Observations[];
  readonly outside: (MemoryHoldings | undefined)[];
}

export function answersOf(
  node: Pick<Node, 'read'>,
  candidates: () => Candidates,
  outside?: StepInput['outside'],
  policies?: Pick<PolicyPort, 'read' | 'workloads' | 'processes'>,
): Answers {
  const given: Given = { candidates: [], rechecks: [], outside: [] };
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
      recheck: () => remembered(given.rechecks, node.read()),
      ...(outside && { outside: (above) => remembered(given.outside, outside(above)) }),
      ...(policies && {
        policyReadings: () => (given.policyReadings = policies.read()),
        policyRecheck: () => (given.policyRecheck = policies.read('anew')),
        policyWorkloads: (paths: readonly string[]) => (given.policyWorkloads = policies.workloads(paths)),
        policyProcesses: (workloads: readonly Workload[]) => (given.policyProcesses = policies.processes(workloads)),
      }),
    },
  };
}
