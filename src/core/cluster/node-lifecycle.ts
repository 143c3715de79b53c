import { readyStatus, type ClusterNode } from './cluster-node.js';
import { hasTaints, isEvicted, nodeTaints, type NoExecuteMode } from './condition-taints.js';
import { evictionRate, zoneState, type EvictionRates, type ZoneCount, type ZoneState } from './zone-disruption.js';

// Nodes by their leases and conditions (pkg/controller/nodelifecycle, v1.36.2).

export interface LifecycleConfig extends EvictionRates {
  /** A node that reports nothing for longer is unreachable (--node-monitor-grace-period). */
  readonly graceNs: bigint;
}

/** --node-monitor-grace-period and --node-startup-grace-period of kube-controller-manager v1.36. */
export const DEFAULT_GRACE_NS = 50_000_000_000n;
const STARTUP_GRACE_NS = 60_000_000_000n;
/**
 * Each kubelet renews its lease every 10 s. If none has been seen to change for longer than this, the watch or the API server was
 * interrupted, or no node lives.
 */
const NO_LEASE_NS = 25_000_000_000n;

/** Conditions that the kubelet reports, and that are Unknown without it. */
export const KUBELET_CONDITIONS = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'] as const;

/** `silence`: its conditions become Unknown. `taint`: it gets the taints of its conditions. */
export type NodeEffect =
  | { readonly kind: 'silence'; readonly node: string }
  | { readonly kind: 'taint'; readonly node: string; readonly mode: NoExecuteMode };

export interface ZoneHealth extends ZoneCount {
  readonly zone: string;
  readonly state: ZoneState;
}

interface Followed {
  readonly node: ClusterNode;
  /** When the controller has last seen a change of its lease or heartbeat. Clocks of nodes do not count. */
  readonly changedNs: bigint;
}

interface Limiter {
  /** 0 to 1: nodes that may be tainted now. */
  readonly tokens: number;
  readonly atNs: bigint;
}

/**
 * Which nodes are silent, and which taints nodes should have. It has effects until the nodes are as they should be: the caller
 * carries out one effect for a node at a time.
 */
export class NodeLifecycle {
  readonly #nodes = new Map<string, Followed>();
  /** renewTime as written, by node. */
  readonly #leases = new Map<string, string>();
  /** When a lease of any node has changed last. */
  #leaseNs: bigint | undefined;
  /** Nodes whose turn for the NoExecute taint has come. */
  readonly #due = new Set<string>();
  /** Nodes that wait for it, in this order. */
  readonly #pending = new Set<string>();
  readonly #limiters = new Map<string, Limiter>();
  #zones: readonly ZoneHealth[] = [];
  #isHalted = false;
  /** The time before which no node gets a NoExecute taint after a halt. */
  #admitsFromNs: bigint | undefined;

  constructor(private readonly config: LifecycleConfig) {}

  /** The health of the zones at the last `tick`. */
  get zones(): readonly ZoneHealth[] {
    return this.#zones;
  }

  /** No node of the cluster is ready: this controller may be what is cut off, so that no node gets a NoExecute taint. */
  get isHalted(): boolean {
    return this.#isHalted;
  }

  setNode(node: ClusterNode, nowNs: bigint): void {
    const before = this.#nodes.get(node.name);
    this.#nodes.set(node.name, { node, changedNs: before?.node.heartbeat === node.heartbeat ? before.changedNs : nowNs });
  }

  deleteNode(name: string): void {
    this.#nodes.delete(name);
    this.#due.delete(name);
    this.#pending.delete(name);
  }

  setLease(name: string, renewTime: string, nowNs: bigint): void {
    if (this.#leases.get(name) === renewTime) return;
    this.#leases.set(name, renewTime);
    if (this.#leaseNs !== undefined && nowNs - this.#leaseNs > NO_LEASE_NS) this.#restartGracePeriods(nowNs);
    this.#leaseNs = nowNs;
    const followed = this.#nodes.get(name);
    if (followed !== undefined) this.#nodes.set(name, { ...followed, changedNs: nowNs });
  }

  deleteLease(name: string): void {
    this.#leases.delete(name);
  }

  /** Each node has its whole grace period again: its lease could not be seen for a time. */
  #restartGracePeriods(nowNs: bigint): void {
    for (const [name, followed] of this.#nodes) this.#nodes.set(name, { ...followed, changedNs: nowNs });
  }

  /** @param name  a node @param seenNs  as in `tick` */
  isSilent(name: string, seenNs: bigint): boolean {
    const followed = this.#nodes.get(name);
    if (followed === undefined) return false;
    const graceNs = readyStatus(followed.node) === undefined ? STARTUP_GRACE_NS : this.config.graceNs;
    return seenNs - followed.changedNs > graceNs;
  }

  /**
   * @param seenNs  until when the controller has seen every change of nodes and leases: what it could not see is not a silence of a
   *   node
   */
  tick(nowNs: bigint, seenNs: bigint): readonly NodeEffect[] {
    const silent = new Set([...this.#nodes.keys()].filter((name) => this.isSilent(name, seenNs)));
    this.#judgeZones(silent, nowNs);
    this.#admit(nowNs);
    const effects: NodeEffect[] = [];
    for (const [name, { node }] of this.#nodes) {
      if (silent.has(name) && !isUnknown(node)) effects.push({ kind: 'silence', node: name });
      const mode = this.#isHalted ? 'clear' : this.#due.has(name) ? 'set' : 'keep';
      if (!hasTaints(nodeTaints(node, mode), node.taints)) effects.push({ kind: 'taint', node: name, mode });
    }
    return effects;
  }

  #judgeZones(silent: ReadonlySet<string>, nowNs: bigint): void {
    const counts = new Map<string, ZoneCount>();
    for (const [name, { node }] of this.#nodes) {
      if (node.isExcluded) continue;
      const { ready, notReady } = counts.get(node.zone) ?? { ready: 0, notReady: 0 };
      const isReady = readyStatus(node) === 'True' && !silent.has(name);
      counts.set(node.zone, isReady ? { ready: ready + 1, notReady } : { ready, notReady: notReady + 1 });
    }
    this.#zones = [...counts].map(([zone, count]) => ({ zone, ...count, state: zoneState(count, this.config) }));
    const wasHalted = this.#isHalted;
    this.#isHalted = this.#zones.length > 0 && this.#zones.every(({ state }) => state === 'FullDisruption');
    if (this.#isHalted) {
      this.#due.clear();
      this.#pending.clear();
    } else if (wasHalted) {
      this.#restartGracePeriods(nowNs);
      this.#admitsFromNs = nowNs + this.config.graceNs;
    }
  }

  /** Lets nodes that wait have their NoExecute taint, at the rate of their zone. */
  #admit(nowNs: bigint): void {
    if (this.#isHalted) return;
    for (const [name, { node }] of this.#nodes) {
      const ready = readyStatus(node);
      if (ready === undefined || ready === 'True') {
        this.#due.delete(name);
        this.#pending.delete(name);
      } else if (!isEvicted(node) && !this.#due.has(name)) this.#pending.add(name);
    }
    if (this.#admitsFromNs !== undefined && nowNs < this.#admitsFromNs) return;
    for (const zone of new Set([...this.#nodes.values()].map(({ node }) => node.zone))) this.#admitIn(zone, nowNs);
  }

  #admitIn(zone: string, nowNs: bigint): void {
    const health = this.#zones.find((each) => each.zone === zone) ?? { zone, ready: 0, notReady: 0, state: 'Normal' };
    const perSecond = evictionRate(health, health.state, this.config);
    const before = this.#limiters.get(zone) ?? { tokens: 1, atNs: nowNs };
    let tokens = Math.min(1, before.tokens + (Number(nowNs - before.atNs) / 1e9) * perSecond);
    for (const name of this.#pending) {
      if (tokens < 1 || perSecond === 0) break;
      if (this.#nodes.get(name)?.node.zone !== zone) continue;
      this.#pending.delete(name);
      this.#due.add(name);
      tokens -= 1;
    }
    this.#limiters.set(zone, { tokens, atNs: nowNs });
  }
}

function isUnknown({ conditions }: ClusterNode): boolean {
  return KUBELET_CONDITIONS.every((type) => conditions.find((each) => each.type === type)?.status === 'Unknown');
}
