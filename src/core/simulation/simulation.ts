import type { SchedulerProfiles } from '../scheduling/scheduler-profile.js';
import { Scheduler } from '../scheduling/scheduler.js';
import { explain, type ExplainedNode } from './explanation.js';
import { PodPlacements } from './pod-placements.js';
import { SimulatedCluster, type SimulatedContent, type SimulationSettings } from './simulated-cluster.js';
import { SimulatedDrain } from './simulated-drain.js';
import { lastOf, type LivePod } from './simulated-pod.js';
import { SimulatedPressure, type KubeletEviction } from './simulated-pressure.js';
import type { SimulatedAction, TimelineEvent } from './timeline-event.js';

export interface SimulationInput {
  readonly content: SimulatedContent;
  readonly settings: SimulationSettings;
  readonly profiles: SchedulerProfiles;
  readonly kubelet: KubeletEviction;
  /** An action has so much time before the next one starts. */
  readonly horizonNs: bigint;
}

/** The time after which the control plane takes a node for unreachable (kube-controller-manager: --node-monitor-grace-period). */
const MONITOR_GRACE_NS = 50_000_000_000n;
const UNREACHABLE = { key: 'node.kubernetes.io/unreachable', value: '' } as const;

/** Actions on a cluster, one after another, and all that follows from them. */
export class Simulation {
  readonly world: SimulatedCluster;
  readonly #scheduler: Scheduler;
  readonly #placements: PodPlacements;
  readonly #drains: SimulatedDrain[] = [];

  constructor(private readonly input: SimulationInput) {
    this.world = new SimulatedCluster(input.content, input.settings);
    this.#scheduler = new Scheduler(this.world.cluster, { profiles: input.profiles });
    this.#placements = new PodPlacements(this.world, this.#scheduler);
    this.world.onReady = () => {
      for (const drain of this.#drains) drain.retry();
    };
  }

  get events(): readonly TimelineEvent[] {
    return this.world.events;
  }

  get pods(): readonly LivePod[] {
    return this.world.pods;
  }

  /** Runs an action until nothing more happens, or to the horizon. */
  run(action: SimulatedAction): void {
    const { world } = this;
    const endNs = world.nowNs + this.input.horizonNs;
    world.record({ kind: 'action', action });
    this.#start(action);
    this.#placements.run();
    for (let next = world.queue.nextNs; next !== undefined && next <= endNs; next = world.queue.nextNs) {
      world.advance();
      this.#placements.run();
    }
    if (world.queue.nextNs !== undefined) world.waitUntil(endNs);
  }

  #start(action: SimulatedAction): void {
    const { world } = this;
    switch (action.kind) {
      case 'pressure': {
        const { node, availableBytes, isChange } = action;
        const before = world.memory.available(node);
        const available = isChange ? before + availableBytes : availableBytes;
        world.memory.lose(node, before - available);
        new SimulatedPressure(world, this.input.kubelet, node, available).look();
        break;
      }
      case 'drain': {
        const drain = new SimulatedDrain(world, action.node);
        this.#drains.push(drain);
        drain.start();
        break;
      }
      case 'taint':
        world.addTaint(action.node, action.taint);
        break;
      case 'fail':
        this.#fail(action.node);
        break;
      case 'add':
        for (const pod of action.pods) world.create(pod);
        break;
    }
  }

  /**
   * Every filter and score for the pod as the cluster is now. A pod on a node is taken from it for the answer; of one that was
   * replaced its replacement is explained. undefined: there is no such pod.
   */
  explain(path: string): readonly ExplainedNode[] | undefined {
    const found = this.world.pods.find((live) => live.path === path);
    if (found === undefined) return undefined;
    const { scheduling } = lastOf(found);
    const { cluster } = this.world;
    const node = cluster.nodeOf(scheduling);
    cluster.remove(scheduling);
    const explained = explain(this.#scheduler, { ...scheduling, nodeName: '', nominatedNodeName: '' });
    if (node !== undefined) cluster.add(scheduling, node);
    return explained;
  }

  #fail(node: string): void {
    const { world } = this;
    world.failed.add(node);
    world.later(MONITOR_GRACE_NS, () => {
      world.record({ kind: 'node', node, what: 'Ready is Unknown: its kubelet has not answered for 50 s' });
      for (const live of world.podsOn(node)) world.unready(live);
      world.addTaint(node, { ...UNREACHABLE, effect: 'NoSchedule' });
      world.addTaint(node, { ...UNREACHABLE, effect: 'NoExecute' });
    });
  }
}
