import { isBelow } from '../workload/cgroup.js';
import type { QosClass, Workload } from '../workload/workload.js';
import { fewestVictims, isPreemptable, type Requesting } from './preemption-victims.js';
import type { PreemptionPolicy } from './priority-class.js';
import { NANO } from '../quantity/integer.js';

const QOS: readonly QosClass[] = ['BestEffort', 'Burstable', 'Guaranteed'];

/** A workload that asks to start, and for how much memory. */
export interface RequestingApplicant {
  /** It does not count among the workloads: a unit that systemd starts has a cgroup already. Left out: not known. */
  readonly name?: string | undefined;
  readonly path?: string | undefined;
  readonly critical: boolean;
  readonly priority: number;
  readonly preemptionPolicy: PreemptionPolicy;
  /** Bytes. */
  readonly memory: bigint;
}

/** What the workloads of the node request, and may. */
export interface NodeRequests {
  readonly workloads: readonly Workload[];
  /** Bytes that all workloads together may request. */
  readonly capacity: bigint;
  /** The cgroup whose workloads share the capacity. Left out: all workloads do. */
  readonly cgroup?: string | undefined;
  /** It ends already: its request is free soon. */
  readonly isEnding: (workload: Workload) => boolean;
  /** Why no workload at all is ended now. undefined: workloads may be. */
  readonly halt: string | undefined;
  /** It may not be ended now. Asked only about those that are chosen. */
  readonly isExempt: (workload: Workload) => boolean;
  /** Names of the disruption budgets that do not permit its end while these end, too. */
  readonly violated: (workload: Workload, ending: readonly Workload[]) => readonly string[];
}

interface Victims {
  readonly workloads: readonly Workload[];
  /** Names of the disruption budgets that the end of a workload violates, by workload id. */
  readonly violates: ReadonlyMap<string, readonly string[]>;
}

/** `waits`: the applicant fits once these have ended. `preempts`: once these are ended. */
export type RequestAnswer = { readonly requested: bigint; readonly used: bigint; readonly capacity: bigint } & (
  | { readonly kind: 'fits' }
  | { readonly kind: 'waits'; readonly workloads: readonly Workload[] }
  | ({ readonly kind: 'preempts' } & Victims)
  | { readonly kind: 'refused'; readonly why: string }
);

export function requestedBytes({ requests }: Pick<Workload, 'requests'>): bigint {
  return (requests.memory + NANO - 1n) / NANO;
}

/**
 * Whether the memory that a workload requests fits beside what the others request, and which less important ones could
 * end for it: the least important first, of equally important ones the fewest (fewestVictims). A disruption budget is
 * only violated where all that the budgets permit is not enough, as by the scheduler (defaultpreemption,
 * SelectVictimsOnNode, v1.36.2).
 */
export function admitByRequests(applicant: RequestingApplicant, node: NodeRequests): RequestAnswer {
  const others = node.workloads.filter((workload) => isOther(applicant, workload) && (!node.cgroup || isBelow(workload.path, node.cgroup)));
  const used = sum(others);
  const amounts = { requested: applicant.memory, used, capacity: node.capacity };
  const missing = applicant.memory - (node.capacity - used);
  if (applicant.memory === 0n || missing <= 0n) return { ...amounts, kind: 'fits' };
  const refused = (why: string): RequestAnswer => ({ ...amounts, kind: 'refused', why });
  if (applicant.memory > node.capacity) return refused('it requests more than there is');
  const ending = others.filter(node.isEnding);
  const left = missing - sum(ending);
  if (left <= 0n) return { ...amounts, kind: 'waits', workloads: ending };
  if (applicant.preemptionPolicy === 'Never') return refused('its preemptionPolicy is Never');
  if (node.halt !== undefined) return refused(node.halt);
  const victims = victimsFor(
    applicant,
    node,
    others.filter((workload) => !ending.includes(workload)),
    left,
  );
  return victims === undefined
    ? refused('the less important workloads that evictd may end do not request enough')
    : { ...amounts, kind: 'preempts', ...victims };
}

function isOther({ name, path }: RequestingApplicant, workload: Workload): boolean {
  return path === undefined ? workload.name !== name : workload.path !== path;
}

function sum(workloads: readonly Workload[]): bigint {
  return workloads.reduce((bytes, workload) => bytes + requestedBytes(workload), 0n);
}

/** undefined: all that may end free too little. */
function victimsFor(
  applicant: RequestingApplicant,
  { isExempt, violated }: NodeRequests,
  others: readonly Workload[],
  amount: bigint,
): Victims | undefined {
  let preemptable = others.filter(
    ({ priority, protection }) => protection === undefined && isPreemptable(applicant, { priority, critical: false }),
  );
  let last: readonly Workload[] = []; // a budget does not permit their end
  for (;;) {
    const groups = [...byImportance(preemptable.filter((workload) => !last.includes(workload))), ...byImportance(last)];
    const { victims, unmet } = fewestVictims(groups, [{ resource: 'memory', amount }]);
    if (unmet.length > 0) return undefined;
    const workloads = victims.map(({ workload }) => workload);
    const exempt = workloads.filter(isExempt);
    const violates = new Map(workloads.map((workload, index) => [workload.id, violated(workload, workloads.slice(0, index))] as const));
    const over = workloads.filter((workload) => violates.get(workload.id)?.length !== 0 && !last.includes(workload));
    if (exempt.length === 0 && over.length === 0) return { workloads, violates };
    preemptable = preemptable.filter((workload) => !exempt.includes(workload));
    last = (exempt.length > 0 ? last : [...last, ...over]).filter((workload) => !exempt.includes(workload));
  }
}

/** Groups workloads by priority and QoS class; the youngest is last, because the last of equal ones is chosen first. */
function byImportance(workloads: readonly Workload[]): readonly (readonly (Requesting & { readonly workload: Workload })[])[] {
  const importance = ({ priority, qosClass }: Workload): number => priority * QOS.length + QOS.indexOf(qosClass);
  const levels = [...new Set(workloads.map(importance))].sort((one, other) => one - other);
  return levels.map((level) =>
    workloads
      .filter((workload) => importance(workload) === level)
      .sort((one, other) => Number(one.startOrder - other.startOrder))
      .map((workload) => ({ workload, request: () => requestedBytes(workload) })),
  );
}
