import { CONTROLLER_OF, type ClusterEffect } from '../../core/cluster/cluster-control.js';
import type { ClusterNode } from '../../core/cluster/cluster-node.js';
import { isActive, type Controller, type ManagerPart, type PartMode } from '../../core/cluster/controller.js';
import type { LifecycleConfig } from '../../core/cluster/node-lifecycle.js';
import type { ApiCall } from '../../core/kubernetes/pod-call.js';
import type { ClusterEvent } from '../../core/kubernetes/event-series.js';
import { EvictdError, messageOf } from '../../errors.js';
import type { Log } from '../../log/log.js';
import type { ApiClient } from '../kubernetes/client/api-client.js';
import { PodEvents } from '../kubernetes/reports/pod-events.js';
import { followingRetryAfter } from '../kubernetes/reports/report-ports.js';
import { ActionQueue } from './action-queue.js';
import { perform } from './cluster-actions.js';
import { ClusterWatch } from './cluster-watch.js';
import type { ControllerMetrics } from './controller-metrics.js';
import { ManagerWatch } from '../kubernetes/manager-watch.js';

export interface LeadParts {
  /** Unique for each process. */
  readonly identity: string;
  readonly modes: Readonly<Record<Controller, PartMode>>;
  readonly lifecycle: LifecycleConfig;
  /** CLOCK_BOOTTIME. */
  readonly nowNs: () => bigint;
  readonly log: Log;
}

const REQUEST_MS = 10_000;
const TICK_MS = 1_000;
/** Node changes within this time are handled in one tick. */
const NODE_CHANGE_BATCH_MS = 100;
const MANAGER_POLL_MS = 10_000;

/** The work of the leader. A new leader takes over no state from the previous one. */
export class LeaderTasks {
  readonly watch: ClusterWatch;
  readonly actions: ActionQueue;
  active: ReadonlySet<Controller> = new Set();
  manager: ReadonlyMap<Controller, ManagerPart> = new Map();
  readonly #parts: LeadParts;
  readonly #client: ApiClient;
  readonly #events: PodEvents;
  readonly #managerWatch: ManagerWatch;
  readonly #loggedStates = new Map<Controller, string>();
  #timer: NodeJS.Timeout | undefined;
  #tickAtMs = 0;
  #pollTimer: NodeJS.Timeout | undefined;
  #hasPollFailed = false;
  #isClosed = false;

  /** @param client  of this lead alone: with the lead its watches and requests end */
  constructor(parts: LeadParts, client: ApiClient, metrics: ControllerMetrics, remainingMs: () => number) {
    this.#parts = parts;
    this.#client = client;
    const { nowNs, log, lifecycle, identity } = parts;
    /** The time until the lease expires. Throws after it: another process may lead when a request arrives. */
    const leftMs = (): number => {
      const ms = this.#isClosed ? 0 : remainingMs();
      if (ms <= 0) throw new EvictdError('EVICTD_KUBERNETES_UNREACHABLE', 'this process does not lead any more');
      return ms;
    };
    const ask: ApiClient['ask'] = async (call) => client.ask({ ...call, withinMs: Math.min(call.withinMs, leftMs()), beforeSend: leftMs });
    this.#events = new PodEvents({ ...followingRetryAfter(ask), nodeName: identity, log }, undefined);
    const acting = {
      ...{ log, count: metrics.count },
      ask: (call: ApiCall) => ask({ ...call, withinMs: REQUEST_MS }),
      event: (event: ClusterEvent) => {
        this.#events.add(event);
      },
      isSilent: (node: ClusterNode) => this.watch.cluster.isSilent(node, this.watch.seenNs),
    };
    // A part may have stopped while its effect waited.
    const performed = async (effect: ClusterEffect): Promise<void> => {
      if (this.active.has(CONTROLLER_OF[effect.kind])) await perform(acting, effect);
    };
    this.actions = new ActionQueue(performed, nowNs, log);
    this.#managerWatch = new ManagerWatch(ask, nowNs);
    this.watch = new ClusterWatch({
      ...{ client: { ask, watch: client.watch.bind(client) }, config: lifecycle, nowNs, log },
      onEffects: (effects) => {
        if (this.watch.isSynced) this.actions.add(effects);
      },
      onNodes: () => {
        this.#tickIn(NODE_CHANGE_BATCH_MS);
      },
    });
    void this.#pollManager();
    this.#tickIn(TICK_MS);
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#pollTimer);
    this.actions.close();
    this.#events.close();
    this.watch.close();
    this.#client.close();
  }

  /** The next tick is after `ms` at the latest. */
  #tickIn(ms: number): void {
    const atMs = performance.now() + ms;
    if (this.#isClosed || (this.#timer !== undefined && this.#tickAtMs <= atMs)) return;
    clearTimeout(this.#timer);
    this.#tickAtMs = atMs;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#tick();
    }, ms);
  }

  #tick(): void {
    const { cluster, isSynced, seenNs } = this.watch;
    const nowNs = this.#parts.nowNs();
    if (isSynced) {
      this.#updateParts(nowNs);
      this.actions.replace(cluster.tick(nowNs, seenNs));
    }
    const dueNs = cluster.nextDueNs(nowNs);
    const dueMs = dueNs === undefined ? TICK_MS : Number((dueNs - nowNs) / 1_000_000n) + 1;
    this.#tickIn(Math.min(TICK_MS, dueMs));
  }

  async #pollManager(): Promise<void> {
    try {
      await this.#managerWatch.poll();
      this.#hasPollFailed = false;
    } catch (error) {
      if (!this.#hasPollFailed && !this.#isClosed) {
        this.#parts.log.warn(`cannot read whether a kube-controller-manager runs: ${messageOf(error)}`, {
          code: 'EVICTD_CONTROLLER_MANAGER',
        });
      }
      this.#hasPollFailed = true;
    }
    if (!this.#isClosed) this.#pollTimer = setTimeout(() => void this.#pollManager(), MANAGER_POLL_MS);
  }

  #updateParts(nowNs: bigint): void {
    this.manager = this.#managerWatch.parts(this.watch.cluster.managerTaintedMs);
    const active = new Set<Controller>();
    for (const [controller, part] of this.manager) {
      const mode = this.#parts.modes[controller];
      if (isActive(mode, part)) active.add(controller);
      this.#logPartChange(controller, mode, part);
    }
    this.active = active;
    this.watch.cluster.setParts(active, nowNs);
  }

  #logPartChange(controller: Controller, mode: PartMode, part: ManagerPart): void {
    const { log } = this.#parts;
    const isOn = isActive(mode, part);
    const text = `${controller} ${isOn ? 'runs' : mode === 'off' ? 'is off' : 'does not run'}: ${mode === 'off' ? 'its flag is off' : part.why}`;
    if (this.#loggedStates.get(controller) === text) return;
    this.#loggedStates.set(controller, text);
    if (isOn && part.runs === true)
      log.warn(`${text}; both act`, {
        code: 'EVICTD_CONTROLLER_BOTH',
        hint: `add -${controller} to --controllers of kube-controller-manager, or turn it off here`,
      });
    else log.info(text);
  }
}
