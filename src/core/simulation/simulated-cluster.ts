import { GC_PERIOD_NS, OUT_OF_SERVICE } from '../cluster/pod-gc.js';
import { isSameTaint, taintText, type Taint } from '../disruption/taint.js';
import { taintEviction, type WaitingEviction } from '../disruption/taint-eviction.js';
import { Cluster, type ClusterContent } from '../scheduling/cluster/cluster.js';
import type { SchedulerNode } from '../scheduling/scheduler-node.js';
import type { SchedulerPod } from '../scheduling/scheduler-pod.js';
import { EventQueue } from './event-queue.js';
import { SimulatedBudgets, type SimulatedBudget } from './simulated-budgets.js';
import { SimulatedMemory, type NodeMemory } from './simulated-memory.js';
import { isOnNode, isReplacedAtOnce, KEEPS_NAME, ON_ITS_NODE, type LivePod, type SimulatedPod } from './simulated-pod.js';
import type { EvictionCause, EventContent, TimelineEvent } from './timeline-event.js';
import { NS_PER_SECOND } from '../quantity/duration.js';

export interface SimulatedContent extends Omit<ClusterContent, 'pods'> {
  readonly pods: readonly SimulatedPod[];
  readonly budgets: readonly SimulatedBudget[];
  /** Memory by node. */
  readonly memory: ReadonlyMap<string, NodeMemory>;
}

export interface SimulationSettings {
  /** The time from binding to ready. */
  readonly startTimeNs: bigint;
  /** The time of the dump, in ns since 1970: new pods are younger. */
  readonly nowNs: bigint;
}

/** The cluster at a moment of the simulation, its pods, and what has happened and is going to. */
export class SimulatedCluster {
  readonly cluster: Cluster;
  readonly budgets: SimulatedBudgets;
  readonly memory: SimulatedMemory;
  readonly events: TimelineEvent[] = [];
  readonly queue = new EventQueue();
  /** All pods of the simulation, ended ones included, in the order of the dump. */
  readonly pods: LivePod[] = [];
  readonly pending = new Set<LivePod>();
  /** Nodes whose kubelet does not answer. */
  readonly failed = new Set<string>();
  readonly #byNode = new Map<string, Set<LivePod>>();
  readonly #live = new Map<SchedulerPod, LivePod>();
  readonly #waiting = new Map<LivePod, WaitingEviction>();
  readonly #names = new Map<string, number>();
  #nowNs = 0n;
  /** Counts what may make room for pending pods. */
  freed = 0;
  /** Called when a pod has become ready. */
  onReady: () => void = () => undefined;

  constructor(
    { pods, budgets, memory, ...content }: SimulatedContent,
    readonly settings: SimulationSettings,
  ) {
    this.cluster = new Cluster(content);
    this.budgets = new SimulatedBudgets(budgets);
    this.memory = new SimulatedMemory(memory, { node: this.node.bind(this), podsOn: this.podsOn.bind(this) });
    for (const pod of pods) this.#insert(pod);
  }

  get nowNs(): bigint {
    return this.#nowNs;
  }

  record(what: EventContent): void {
    this.events.push({ atNs: this.#nowNs, ...what });
  }

  later(afterNs: bigint, run: () => void): void {
    this.queue.add(this.#nowNs + afterNs, run);
  }

  /** Runs what is due next, all of one time. */
  advance(): void {
    const next = this.queue.nextNs ?? this.#nowNs;
    this.#nowNs = next;
    while (this.queue.nextNs === next) this.queue.runNext();
  }

  /** Sets the time, which must not be later than the next event. */
  waitUntil(ns: bigint): void {
    this.#nowNs = ns;
  }

  /** undefined: no such node. */
  node(name: string): SchedulerNode | undefined {
    return this.cluster.node(name)?.node;
  }

  podsOn(node: string): readonly LivePod[] {
    return [...(this.#byNode.get(node) ?? [])];
  }

  liveOf(scheduling: SchedulerPod): LivePod | undefined {
    return this.#live.get(scheduling);
  }

  #insert(pod: SimulatedPod): void {
    const { scheduling, phase, ready } = pod;
    const isFinished = phase === 'Succeeded' || phase === 'Failed';
    const isThere = !isFinished && this.cluster.node(scheduling.nodeName) !== undefined;
    const live: LivePod = {
      pod,
      path: `${scheduling.namespace}/${scheduling.name}`,
      stage: isFinished ? 'finished' : !isThere ? 'pending' : scheduling.terminating ? 'ending' : ready ? 'running' : 'starting',
      node: isThere ? scheduling.nodeName : undefined,
      scheduling,
      queuedNs: 0n,
    };
    this.pods.push(live);
    this.#live.set(scheduling, live);
    if (live.stage === 'pending') {
      this.pending.add(live);
      this.cluster.volumes?.create(scheduling);
      if (this.node(scheduling.nominatedNodeName)) this.cluster.nominate(scheduling, scheduling.nominatedNodeName);
    }
    if (live.node !== undefined) this.#place(live, live.node);
    if (live.stage === 'ending') this.later(this.graceOf(live), () => this.#gone(live, isReplacedAtOnce(live)));
  }

  #place(live: LivePod, node: string): void {
    this.cluster.add(live.scheduling, node);
    live.node = node;
    this.#byNode.set(node, (this.#byNode.get(node) ?? new Set<LivePod>()).add(live));
  }

  graceOf({ pod }: LivePod): bigint {
    return pod.workload.terminationGracePeriodNs ?? 30n * NS_PER_SECOND;
  }

  /** A new pod comes into the queue. */
  create(pod: SimulatedPod, replaces?: LivePod): LivePod {
    const { scheduling } = pod;
    const live: LivePod = {
      ...{ pod, path: `${scheduling.namespace}/${scheduling.name}`, stage: 'pending', node: undefined, scheduling, queuedNs: this.#nowNs },
      ...(replaces && { replaces }),
    };
    this.pods.push(live);
    this.#live.set(scheduling, live);
    this.pending.add(live);
    this.cluster.volumes?.create(scheduling);
    if (replaces !== undefined) replaces.replacedBy = live;
    return live;
  }

  /** The scheduler has chosen a node: the pod is ready after the start time. */
  bind(live: LivePod, node: string): void {
    this.pending.delete(live);
    this.#place(live, node);
    this.cluster.reserve(live.scheduling, node);
    live.stage = 'starting';
    this.#judgeTaints(live);
    if (!this.failed.has(node)) this.later(this.settings.startTimeNs, () => this.#ready(live));
  }

  neverRuns(live: LivePod, reason: string): void {
    this.pending.delete(live);
    live.stage = 'finished';
    this.record({ kind: 'lost', pod: live.path, reason });
  }

  #ready(live: LivePod): void {
    if (live.stage !== 'starting' || live.node === undefined) return;
    live.stage = 'running';
    live.hasRun = true;
    this.budgets.change(live.scheduling, 1);
    this.record({ kind: 'ready', pod: live.path, node: live.node });
    this.onReady();
  }

  /** The kubelet of its node does not answer any more. */
  unready(live: LivePod): void {
    if (live.stage !== 'running') return;
    this.budgets.change(live.scheduling, -1);
    live.stage = 'starting';
  }

  /**
   * The pod is deleted, or ended by the kubelet. A controller replaces it at once; a StatefulSet, and one that the kubelet has
   * ended, when it is gone.
   */
  end(live: LivePod, cause: EvictionCause, reason: string, options: { readonly graceNs?: bigint; readonly rank?: number } = {}): void {
    const { node, stage } = live;
    if (node === undefined || (stage !== 'running' && stage !== 'starting')) return;
    const { graceNs = this.graceOf(live), rank } = options;
    this.#waiting.delete(live);
    this.record({ kind: 'evicted', pod: live.path, node, cause, reason, graceNs, ...(rank !== undefined && { rank }) });
    if (stage === 'running') this.budgets.change(live.scheduling, -1);
    live.stage = 'ending';
    this.#renew(live, { ...live.scheduling, terminating: true, preempted: cause === 'preemption' });
    if (cause !== 'node-pressure' && isReplacedAtOnce(live)) this.#replace(live);
    if (this.failed.has(node)) {
      if (live.scheduling.controller?.kind === KEEPS_NAME && !this.#isOutOfService(node))
        this.record({ kind: 'stays', pod: live.path, node, reason: 'terminating until the node is back or deleted: a StatefulSet waits' });
      return;
    }
    this.later(graceNs, () => this.#gone(live));
  }

  #renew(live: LivePod, scheduling: SchedulerPod): void {
    const node = this.cluster.nodeOf(live.scheduling);
    this.cluster.remove(live.scheduling);
    this.#live.delete(live.scheduling);
    live.scheduling = scheduling;
    this.#live.set(scheduling, live);
    if (node !== undefined) this.cluster.add(scheduling, node);
  }

  #gone(live: LivePod, wasReplaced = false): void {
    if (!isOnNode(live) || live.node === undefined) return;
    live.stage = 'ended';
    this.cluster.end(live.scheduling);
    this.#byNode.get(live.node)?.delete(live);
    this.freed += 1;
    if (live.replacedBy === undefined && !wasReplaced) this.#replace(live);
  }

  #replace(live: LivePod): void {
    const { controller, name: old, namespace } = live.scheduling;
    const reason = controller === undefined ? 'no controller recreates it' : ON_ITS_NODE[controller.kind];
    if (controller === undefined || reason !== undefined) {
      this.record({ kind: 'lost', pod: live.path, reason: reason ?? '' });
      return;
    }
    const name = controller.kind === KEEPS_NAME ? old : this.#newName(namespace, controller.name);
    const scheduling: SchedulerPod = {
      ...live.scheduling,
      ...{ name, uid: '', nodeName: '', nominatedNodeName: '', terminating: false, preempted: false },
      startNs: this.settings.nowNs + this.#nowNs,
    };
    const workload = { ...live.pod.workload, name, id: `${namespace}/${name}`, path: `${namespace}/${name}` };
    this.create({ ...live.pod, scheduling, workload, phase: 'Pending', ready: true }, live);
  }

  #newName(namespace: string, controller: string): string {
    const key = `${namespace}/${controller}`;
    const count = (this.#names.get(key) ?? 0) + 1;
    this.#names.set(key, count);
    return `${controller}-new${String(count)}`;
  }

  changeNode(name: string, change: (node: SchedulerNode) => SchedulerNode): void {
    const node = this.node(name);
    if (node !== undefined) this.cluster.setNode(change(node));
    this.freed += 1;
  }

  addTaint(name: string, taint: Taint): void {
    this.record({ kind: 'node', node: name, what: `has the taint ${taintText(taint)}` });
    this.changeNode(name, (node) => ({ ...node, taints: [...node.taints.filter((other) => !isSameTaint(other, taint)), taint] }));
    if (taint.effect === 'NoExecute') for (const live of this.podsOn(name)) this.#judgeTaints(live);
    if (this.failed.has(name) && this.#isOutOfService(name)) this.later(GC_PERIOD_NS, () => this.#collect(name));
  }

  #isOutOfService(node: string): boolean {
    return this.node(node)?.taints.some(({ key }) => key === OUT_OF_SERVICE) === true;
  }

  /** The pod garbage collector, which deletes what no kubelet ends. */
  #collect(node: string): void {
    this.record({ kind: 'node', node, what: 'its terminating pods are deleted by force' });
    for (const live of this.podsOn(node)) if (live.stage === 'ending') this.#gone(live);
  }

  removeTaint(name: string, taint: Taint): void {
    this.record({ kind: 'node', node: name, what: `has no taint ${taintText(taint)} any more` });
    this.changeNode(name, (node) => ({ ...node, taints: node.taints.filter((other) => !isSameTaint(other, taint)) }));
    for (const live of this.podsOn(name)) this.#judgeTaints(live);
  }

  /** Evicts a pod that does not tolerate a NoExecute taint of its node, now or when its toleration ends. */
  #judgeTaints(live: LivePod): void {
    const { node: name, stage } = live;
    if (name === undefined || (stage !== 'running' && stage !== 'starting')) return;
    const taints = (this.node(name)?.taints ?? []).filter(({ effect }) => effect === 'NoExecute');
    const before = this.#waiting.get(live);
    const verdict = taintEviction(taints, live.scheduling.tolerations, before, this.#nowNs);
    if (verdict === 'never') {
      this.#waiting.delete(live);
      if (taints.length > 0) this.record({ kind: 'stays', pod: live.path, node: name, reason: 'toleration without end' });
    } else if (verdict === 'now') this.end(live, 'taint', `no toleration of ${taints.map(taintText).join(', ')}`);
    else if (verdict !== before) {
      this.#waiting.set(live, verdict);
      const reason = `toleration of ${String((verdict.dueNs - this.#nowNs) / NS_PER_SECOND)} s`;
      this.record({ kind: 'stays', pod: live.path, node: name, reason, untilNs: verdict.dueNs });
      this.queue.add(verdict.dueNs, () => {
        if (this.#waiting.get(live) === verdict) this.end(live, 'taint', `the toleration of ${taints.map(taintText).join(', ')} has ended`);
      });
    }
  }
}
