import { DYNAMIC_RESOURCES } from '../scheduling/filters/dynamic-resources.js';
import type { NodeState } from '../scheduling/cluster/node-state.js';
import { kubeletAdmits } from '../scheduling/placement.js';
import type { SchedulerPod } from '../scheduling/scheduler-pod.js';
import type { Scheduler, ScheduleResult } from '../scheduling/scheduler.js';
import { byQueueOrder, schedulingGateReason, type QueuedPod } from '../scheduling/scheduling-queue.js';
import { totalScore } from '../scheduling/scores/node-scores.js';
import type { SimulatedCluster } from './simulated-cluster.js';
import type { LivePod } from './simulated-pod.js';
import type { ScoredNode } from './timeline-event.js';

/** So many nodes are listed with their scores. */
const LISTED = 3;

/** Gives pending pods their nodes, the most important first, whenever something has changed. */
export class PodPlacements {
  readonly #world: SimulatedCluster;
  readonly #scheduler: Scheduler;
  /** By what pods have in common: the message, and the change after which it was given. */
  readonly #failures = new Map<string, { readonly freed: number; readonly message: string }>();
  readonly #told = new Map<LivePod, string>();
  #seen = 0;
  #known: number;

  constructor(world: SimulatedCluster, scheduler: Scheduler) {
    this.#world = world;
    this.#scheduler = scheduler;
    this.#known = world.pods.length;
  }

  /** Does nothing if nothing has changed since the last time. */
  run(): void {
    const { pods, freed } = this.#world;
    if (this.#seen === freed && this.#known === pods.length) return;
    [this.#seen, this.#known] = [freed, pods.length];
    const queued = ({ scheduling: { priority }, queuedNs }: LivePod): QueuedPod => ({ priority, queuedNs });
    const waiting = [...this.#world.pending].sort((one, other) => byQueueOrder(queued(one), queued(other)));
    for (let left: readonly LivePod[] = waiting; left.length > 0;) {
      for (const live of left) this.#place(live);
      const bound = left.filter(({ stage }) => stage !== 'pending').length;
      // A pod that has got a node may be the one that another one wants to be with, or spread from.
      left = bound === 0 ? [] : left.filter(({ stage, scheduling }) => stage === 'pending' && dependsOnOthers(scheduling));
    }
  }

  #place(live: LivePod): void {
    const { scheduling } = live;
    const gates = schedulingGateReason(scheduling);
    if (gates !== undefined) {
      this.#tell(live, gates);
      return;
    }
    const key = templateOf(live);
    const failure = this.#failures.get(key);
    if (failure?.freed === this.#world.freed && !dependsOnOthers(scheduling)) {
      this.#tell(live, failure.message);
      return;
    }
    const named = this.#world.cluster.node(scheduling.nodeName);
    if (named !== undefined) {
      this.#admit(live, named);
      return;
    }
    const result = this.#scheduler.schedule(scheduling);
    if (result.node === undefined) this.#fail(live, key, result);
    else this.#bind(live, result.node, result);
  }

  /** A pod that names its node has no scheduler: the kubelet refuses it, or runs it. */
  #admit(live: LivePod, state: NodeState): void {
    const reasons = kubeletAdmits(live.scheduling, this.#world.cluster, state)?.reasons;
    if (reasons === undefined) this.#bind(live, state.node.name, { feasible: [], scores: undefined });
    else this.#world.neverRuns(live, `the kubelet of ${state.node.name} does not admit it: ${reasons.join(', ')}`);
  }

  #bind(live: LivePod, node: string, { feasible, scores }: Pick<ScheduleResult, 'feasible' | 'scores'>): void {
    const scored = [...(scores ?? [])].map(([name, of]): ScoredNode => ({ node: name, total: totalScore(of), scores: of }));
    const best = scored.sort((one, other) => other.total - one.total || Number(other.node === node) - Number(one.node === node));
    this.#world.happens({
      ...{ kind: 'scheduled', pod: live.path, node, feasible: feasible.length, nodes: this.#world.cluster.nodes.length },
      ...{ best: best.slice(0, LISTED), ...(live.replaces && { replaces: live.replaces.path }) },
    });
    this.#told.delete(live);
    this.#world.bind(live, node);
  }

  /** Makes room if that helps: the pod waits until its victims are gone. */
  #fail(live: LivePod, key: string, result: ScheduleResult): void {
    const world = this.#world;
    if (this.#deallocates(live, result)) {
      world.freed += 1;
      this.#place(live);
      return;
    }
    const { candidate, isEligible, message } = this.#scheduler.preempt(live.scheduling, result, world.budgets.forPreemption());
    if (candidate === undefined) {
      if (isEligible) world.cluster.denominate(live.scheduling);
      const whole = `${result.message} ${message}`.trim();
      this.#failures.set(key, { freed: world.freed, message: whole });
      this.#tell(live, whole);
      return;
    }
    this.#tell(live, result.message, candidate.node);
    // Less important pods may not fit there any more (framework/preemption, prepareCandidate).
    for (const other of [...world.cluster.nominatedOn(candidate.node)])
      if (other.priority < live.scheduling.priority) world.cluster.denominate(other);
    world.cluster.nominate(live.scheduling, candidate.node);
    const violated = candidate.numPDBViolations === 0 ? '' : `; ${String(candidate.numPDBViolations)} against their budgets`;
    const reason = `${live.path} has priority ${String(live.scheduling.priority)}${violated}`;
    for (const victim of candidate.victims) {
      const found = world.liveOf(victim);
      if (found !== undefined) world.end(found, 'preemption', reason);
    }
  }

  /** A claim of the pod has had devices for other nodes, and no other pod has it. */
  #deallocates({ scheduling }: LivePod, { rejected }: ScheduleResult): boolean {
    const { devices } = this.#world.cluster;
    const nodes = [...rejected].flatMap(([name, { plugin }]) => (plugin === DYNAMIC_RESOURCES ? (this.#world.node(name) ?? []) : []));
    return nodes.length > 0 && devices.deallocate(scheduling, nodes);
  }

  /** Once, until it changes. */
  #tell(live: LivePod, message: string, nominated?: string): void {
    if (this.#told.get(live) === message) return;
    this.#told.set(live, message);
    this.#world.happens({
      ...{ kind: 'pending', pod: live.path, message, ...(live.replaces && { replaces: live.replaces.path }) },
      ...(nominated !== undefined && { nominated }),
    });
  }
}

/** Whose pods differ in nothing that the scheduler looks at. */
const ALIKE: ReadonlySet<string | undefined> = new Set(['ReplicaSet', 'ReplicationController', 'Deployment', 'Job']);

function templateOf({ path, scheduling: { namespace, controller, priority } }: LivePod): string {
  return ALIKE.has(controller?.kind) ? `${String(controller?.kind)}/${namespace}/${String(controller?.name)}/${String(priority)}` : path;
}

function dependsOnOthers({ podAffinity, spreadConstraints }: SchedulerPod): boolean {
  return podAffinity.required.length > 0 || spreadConstraints.some(({ whenUnsatisfiable }) => whenUnsatisfiable === 'DoNotSchedule');
}
