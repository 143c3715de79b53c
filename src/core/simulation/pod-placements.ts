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

/** The number of nodes that are listed with their scores. */
const LISTED = 3;

/** Gives pending pods their nodes, the most important first, whenever something has changed. */
export class PodPlacements {
  readonly #simulation: SimulatedCluster;
  readonly #scheduler: Scheduler;
  /** Failures by what pods have in common: the message, and the change after which it was given. */
  readonly #failures = new Map<string, { readonly freed: number; readonly message: string }>();
  readonly #pendingMessages = new Map<LivePod, string>();
  #seen = 0;
  #known: number;

  constructor(simulation: SimulatedCluster, scheduler: Scheduler) {
    this.#simulation = simulation;
    this.#scheduler = scheduler;
    this.#known = simulation.pods.length;
  }

  /** Does nothing if nothing has changed since the last time. */
  run(): void {
    const { pods, freed } = this.#simulation;
    if (this.#seen === freed && this.#known === pods.length) return;
    [this.#seen, this.#known] = [freed, pods.length];
    const queued = ({ scheduling: { priority }, queuedNs }: LivePod): QueuedPod => ({ priority, queuedNs });
    const waiting = [...this.#simulation.pending].sort((one, other) => byQueueOrder(queued(one), queued(other)));
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
      this.#recordPending(live, gates);
      return;
    }
    const key = templateOf(live);
    const failure = this.#failures.get(key);
    if (failure?.freed === this.#simulation.freed && !dependsOnOthers(scheduling)) {
      this.#recordPending(live, failure.message);
      return;
    }
    const named = this.#simulation.cluster.node(scheduling.nodeName);
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
    const reasons = kubeletAdmits(live.scheduling, this.#simulation.cluster, state)?.reasons;
    if (reasons === undefined) this.#bind(live, state.node.name, { feasible: [], rejected: new Map(), scores: undefined });
    else this.#simulation.neverRuns(live, `the kubelet of ${state.node.name} does not admit it: ${reasons.join(', ')}`);
  }

  #bind(live: LivePod, node: string, { feasible, rejected, scores }: Pick<ScheduleResult, 'feasible' | 'rejected' | 'scores'>): void {
    const scored = [...(scores ?? [])].map(([name, of]): ScoredNode => ({ node: name, total: totalScore(of), scores: of }));
    const best = scored.sort((one, other) => other.total - one.total || Number(other.node === node) - Number(one.node === node));
    this.#simulation.record({
      ...{ kind: 'scheduled', pod: live.path, node },
      ...{ feasible: feasible.length, lookedAt: feasible.length + rejected.size, nodes: this.#simulation.cluster.nodes.length },
      ...{ best: best.slice(0, LISTED), ...(live.replaces && { replaces: live.replaces.path }) },
    });
    this.#pendingMessages.delete(live);
    this.#simulation.bind(live, node);
  }

  /** Makes room if that helps: the pod waits until its victims are gone. */
  #fail(live: LivePod, key: string, result: ScheduleResult): void {
    const simulation = this.#simulation;
    if (this.#deallocates(live, result)) {
      simulation.freed += 1;
      this.#place(live);
      return;
    }
    const { candidate, isEligible, message } = this.#scheduler.preempt(live.scheduling, result, simulation.budgets.forPreemption());
    if (candidate === undefined) {
      if (isEligible) simulation.cluster.denominate(live.scheduling);
      const whole = `${result.message} ${message}`.trim();
      this.#failures.set(key, { freed: simulation.freed, message: whole });
      this.#recordPending(live, whole);
      return;
    }
    this.#recordPending(live, result.message, candidate.node);
    // Less important pods may not fit there any more (framework/preemption, prepareCandidate).
    for (const other of [...simulation.cluster.nominatedOn(candidate.node)])
      if (other.priority < live.scheduling.priority) simulation.cluster.denominate(other);
    simulation.cluster.nominate(live.scheduling, candidate.node);
    const violated = candidate.numPDBViolations === 0 ? '' : `; ${String(candidate.numPDBViolations)} against their budgets`;
    const reason = `${live.path} has priority ${String(live.scheduling.priority)}${violated}`;
    for (const victim of candidate.victims) {
      const found = simulation.liveOf(victim);
      if (found !== undefined) simulation.end(found, 'preemption', reason);
    }
  }

  /** A claim of the pod has had devices for other nodes, and no other pod has it. */
  #deallocates({ scheduling }: LivePod, { rejected }: ScheduleResult): boolean {
    const { devices } = this.#simulation.cluster;
    const nodes = [...rejected].flatMap(([name, { plugin, code }]) =>
      plugin === DYNAMIC_RESOURCES && code !== 'Error' ? (this.#simulation.node(name) ?? []) : [],
    );
    return nodes.length > 0 && devices.deallocate(scheduling, nodes);
  }

  /** Once, until it changes. */
  #recordPending(live: LivePod, message: string, nominated?: string): void {
    if (this.#pendingMessages.get(live) === message) return;
    this.#pendingMessages.set(live, message);
    this.#simulation.record({
      ...{ kind: 'pending', pod: live.path, message, ...(live.replaces && { replaces: live.replaces.path }) },
      ...(nominated !== undefined && { nominated }),
    });
  }
}

/** Pods with the same key are equal to the scheduler. */
const ALIKE: ReadonlySet<string | undefined> = new Set(['ReplicaSet', 'ReplicationController', 'Deployment', 'Job']);

function templateOf({ path, scheduling: { namespace, controller, priority } }: LivePod): string {
  return ALIKE.has(controller?.kind) ? `${String(controller?.kind)}/${namespace}/${String(controller?.name)}/${String(priority)}` : path;
}

function dependsOnOthers({ podAffinity, spreadConstraints }: SchedulerPod): boolean {
  return podAffinity.required.length > 0 || spreadConstraints.some(({ whenUnsatisfiable }) => whenUnsatisfiable === 'DoNotSchedule');
}
