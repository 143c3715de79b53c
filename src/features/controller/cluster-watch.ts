import { ClusterControl, type ClusterChange, type ClusterEffect } from '../../core/cluster/cluster-control.js';
import type { LifecycleConfig } from '../../core/cluster/node-lifecycle.js';
import { EvictdError, messageOf } from '../../errors.js';
import { clusterNodeOf, clusterPodOf, leaseOf } from '../../kubernetes/cluster-document.js';
import type { Log } from '../../log/log.js';
import type { ApiClient } from '../kubernetes/client/api-client.js';
import { ListWatch, type Followed, type ObjectsSeen } from '../kubernetes/list-watch.js';

const PAGE = 500;
const FOLLOWED = {
  pods: { path: '/api/v1/pods', pageSize: PAGE, read: clusterPodOf },
  nodes: { path: '/api/v1/nodes', pageSize: PAGE, read: clusterNodeOf },
  leases: {
    path: '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases',
    pageSize: PAGE,
    read: (lease: unknown) => ({ node: leaseOf(lease).name, renewTime: leaseOf(lease).spec.renewTime }),
  },
} as const;
type Watched = keyof typeof FOLLOWED;

/** A single failure is not logged: an API server that restarts ends every watch. */
const LOGGED_FAILURE = 2;
/** A watch of leases that was silent for longer than this may have stalled: kubelets renew theirs every 10 s. */
const STALLED_NS = 15_000_000_000n;
/** What such a watch has missed has arrived after so long. */
const CAUGHT_UP_NS = 15_000_000_000n;

/** The watch may have stalled until `atNs`. Until it has caught up, it is up to date until `beforeNs`. */
interface Stall {
  readonly beforeNs: bigint;
  readonly atNs: bigint;
}

export interface ClusterWatchParts {
  readonly client: Pick<ApiClient, 'ask' | 'watch'>;
  readonly config: LifecycleConfig;
  readonly nowNs: () => bigint;
  readonly log: Pick<Log, 'info' | 'warn'>;
  readonly onEffects: (effects: readonly ClusterEffect[]) => void;
  /** Called after a change of nodes or leases: the next step is due soon. */
  readonly onNodes: () => void;
}

/** Follows pods, nodes and node leases of the whole cluster. */
export class ClusterWatch {
  readonly cluster: ClusterControl;
  readonly #watches: readonly { close(): void; readonly lists: number }[];
  /** When each kind was confirmed last. */
  readonly #confirmedNs = new Map<Watched, bigint>();
  /** The last stall of the watch of the leases. */
  #stall: Stall | undefined;
  readonly #failures = new Map<Watched, number>();
  readonly #problems = new Map<Watched, string>();

  constructor(private readonly parts: ClusterWatchParts) {
    this.cluster = new ClusterControl(parts.config);
    this.#watches = [
      this.#follow('nodes', FOLLOWED.nodes, {
        listed: (listed) => ({ kind: 'nodes', listed }),
        changed: (node) => ({ kind: 'node', node }),
        removed: ({ name }) => ({ kind: 'node gone', name }),
      }),
      this.#follow('leases', FOLLOWED.leases, {
        listed: (listed) => ({ kind: 'leases', listed }),
        changed: (lease) => ({ kind: 'lease', lease }),
        removed: ({ node }) => ({ kind: 'lease gone', node }),
      }),
      this.#follow('pods', FOLLOWED.pods, {
        listed: (listed) => ({ kind: 'pods', listed }),
        changed: (pod) => ({ kind: 'pod', pod }),
        removed: ({ uid }) => ({ kind: 'pod gone', uid }),
      }),
    ];
  }

  /** Everything has been listed. */
  get isSynced(): boolean {
    return this.#confirmedNs.size === this.#watches.length;
  }

  /** Lists so far: one of each kind, others where a watch could not go on. */
  get lists(): number {
    return this.#watches.reduce((sum, { lists }) => sum + lists, 0);
  }

  get problems(): readonly string[] {
    return [...this.#problems.values()];
  }

  /** The time until which every change of nodes and leases has been seen. */
  get seenNs(): bigint {
    const [nodes = 0n, confirmed = 0n] = [this.#confirmedNs.get('nodes'), this.#confirmedNs.get('leases')];
    const stall = this.#stall;
    const leases = stall && this.parts.nowNs() - stall.atNs < CAUGHT_UP_NS ? stall.beforeNs : confirmed;
    return nodes < leases ? nodes : leases;
  }

  close(): void {
    for (const watch of this.#watches) watch.close();
  }

  #follow<T>(
    kind: Watched,
    followed: Followed<T>,
    changes: {
      readonly listed: (objects: readonly T[]) => ClusterChange;
      readonly changed: (object: T) => ClusterChange;
      readonly removed: (object: T) => ClusterChange;
    },
  ): ListWatch<T> {
    const { nowNs, onEffects, onNodes } = this.parts;
    const handle = (change: ClusterChange): void => {
      onEffects(this.cluster.handle(change, nowNs(), this.seenNs));
      if (kind === 'nodes') onNodes();
    };
    const seen: ObjectsSeen<T> = {
      listed: (objects) => {
        this.#confirmed(kind);
        handle(changes.listed(objects));
      },
      changed: (object) => {
        handle(changes.changed(object));
      },
      removed: (object) => {
        handle(changes.removed(object));
      },
      confirmed: () => {
        this.#confirmed(kind);
      },
      failed: (why) => {
        this.#failed(kind, why);
      },
    };
    return new ListWatch(this.parts.client, followed, seen);
  }

  #confirmed(kind: Watched): void {
    if ((this.#failures.get(kind) ?? 0) >= LOGGED_FAILURE) this.parts.log.info(`the ${kind} of the cluster can be followed again`);
    const nowNs = this.parts.nowNs();
    const beforeNs = this.#confirmedNs.get(kind) ?? nowNs;
    if (kind === 'leases' && nowNs - beforeNs > STALLED_NS) this.#stall = { beforeNs, atNs: nowNs };
    this.#failures.delete(kind);
    this.#problems.delete(kind);
    this.#confirmedNs.set(kind, nowNs);
  }

  #failed(kind: Watched, why: unknown): void {
    const failures = (this.#failures.get(kind) ?? 0) + 1;
    this.#failures.set(kind, failures);
    const message = `the ${kind} of the cluster cannot be followed: ${messageOf(why)}`;
    this.#problems.set(kind, message);
    if (failures !== LOGGED_FAILURE) return;
    const code = why instanceof EvictdError ? why.code : 'EVICTD_KUBERNETES_REFUSED';
    this.parts.log.warn(`${message}; evictd tries again`, { code, hint: 'check the API server and the role: docs/controller.md' });
  }
}
