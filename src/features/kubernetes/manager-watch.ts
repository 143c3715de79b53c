import {
  CONTROLLERS,
  managerPart,
  type Controller,
  type ManagerPart,
  type ManagerPod,
  type SeenManager,
} from '../../core/cluster/controller.js';
import { isHeld, seeLease, type SeenLease } from '../../core/cluster/leader-election.js';
import { answerText } from '../../core/kubernetes/eviction-answer.js';
import { leaseOf, managerPodsOf } from '../../kubernetes/cluster-document.js';
import type { ApiClient } from './client/api-client.js';
import { NS_PER_MS } from '../../core/quantity/duration.js';

const LEASE = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-controller-manager';
const PODS = '/api/v1/namespaces/kube-system/pods';
const QUERY = { labelSelector: 'component=kube-controller-manager' };
const WITHIN_MS = 5_000;
/** A lease that does not change counts as held for so long: its holder may come back, and the wall clock says nothing. */
const ABSENT_NS = 60_000_000_000n;
/** The time without an answer after which nothing is known. */
const STALE_NS = 30_000_000_000n;
/** Taints that it has set within this time show that it acts. */
const TAINTED_MS = 60_000;

/** What can be seen of kube-controller-manager. */
export class ManagerWatch {
  #lease: SeenLease | 'none' | undefined;
  #pods: readonly ManagerPod[] = [];
  /** When both requests were answered last. */
  #readNs: bigint | undefined;
  /** `sinceNs` left out: it was so at the first look. */
  #tainted: { readonly ms: number; readonly sinceNs?: bigint } | undefined;

  /** @param nowNs  of a clock that never goes back */
  constructor(
    private readonly ask: ApiClient['ask'],
    private readonly nowNs: () => bigint,
  ) {}

  /** Rejects without an answer, and where a permission is missing. */
  async poll(): Promise<void> {
    const [lease, pods] = await Promise.all([
      this.ask({ method: 'GET', path: LEASE, withinMs: WITHIN_MS }),
      this.ask({ method: 'GET', path: PODS, query: QUERY, withinMs: WITHIN_MS }),
    ]);
    if (lease.status !== 200 && lease.status !== 404) throw new Error(`for the Lease of kube-controller-manager it ${answerText(lease)}`);
    if (pods.status !== 200) throw new Error(`for the pods of kube-controller-manager it ${answerText(pods)}`);
    const nowNs = this.nowNs();
    // After a gap it is not known how long the lease has been unchanged.
    const before = this.#lease === 'none' || this.#isStale(nowNs) ? undefined : this.#lease;
    this.#lease = lease.status === 404 ? 'none' : seeLease(before, leaseOf(lease.body).spec, nowNs);
    this.#readNs = nowNs;
    this.#pods = managerPodsOf(pods.body);
  }

  /** renewTime of its Lease; '': there is none, or it is not known. */
  get renewTime(): string {
    return this.#lease === undefined || this.#lease === 'none' ? '' : this.#lease.spec.renewTime;
  }

  /** @param taintedMs  when it has set taints last, in ms since 1970 */
  parts(taintedMs: number): ReadonlyMap<Controller, ManagerPart> {
    const seen = { lease: this.#leaseState(), pods: this.#pods, hasTainted: this.#hasTainted(taintedMs) };
    return new Map(CONTROLLERS.map((controller) => [controller, managerPart(controller, seen)]));
  }

  #leaseState(): SeenManager['lease'] {
    const nowNs = this.nowNs();
    if (this.#lease === undefined || this.#isStale(nowNs)) return 'unknown';
    if (this.#lease === 'none') return 'absent';
    return isHeld(this.#lease, nowNs, ABSENT_NS) ? 'held' : 'free';
  }

  #isStale(nowNs: bigint): boolean {
    return this.#readNs === undefined || nowNs - this.#readNs > STALE_NS;
  }

  /**
   * The wall clock counts only until a change is seen. Only a newer time is one: where another program changes all taints of a node,
   * the API server forgets when the manager has changed them.
   */
  #hasTainted(taintedMs: number): boolean {
    const nowNs = this.nowNs();
    if (this.#tainted === undefined) this.#tainted = { ms: taintedMs };
    else if (taintedMs > this.#tainted.ms) this.#tainted = { ms: taintedMs, sinceNs: nowNs };
    else this.#tainted = { ...this.#tainted, ms: taintedMs };
    const { sinceNs } = this.#tainted;
    return sinceNs === undefined ? Math.abs(Date.now() - taintedMs) < TAINTED_MS : nowNs - sinceNs < BigInt(TAINTED_MS) * NS_PER_MS;
  }
}
