import type { EndedPod, PendingDeletions } from '../../../core/kubernetes/pending-deletion.js';
import type { Json } from '../../../kubernetes/json.js';
import { lastStartMs, uidOf } from '../../../kubernetes/node-pod-document.js';

/** The maximum number of remembered pods, as many as a large node has: beyond it the oldest are forgotten. */
const MAX_ENDED = 256;

/**
 * The pods that evictd has ended, until they are gone from the API server, or their kubelet has started them again. By uid: also those
 * whose deletion is not pending any more.
 */
export class EndedPods {
  readonly #byUid = new Map<string, EndedPod>();
  readonly #onRestart: (pod: EndedPod) => void;

  /** @param onRestart  called once for each eviction */
  constructor(pending: PendingDeletions, onRestart: (pod: EndedPod) => void) {
    this.#onRestart = onRestart;
    for (const { ended, ...pod } of pending) if (typeof ended === 'number') this.add({ ...pod, endedMs: ended });
  }

  add({ uid, namespace, name, decision, endedMs }: EndedPod): void {
    this.#byUid.delete(uid);
    this.#byUid.set(uid, { uid, namespace, name, decision, endedMs });
    for (const oldest of [...this.#byUid.keys()].slice(0, -MAX_ENDED)) this.#byUid.delete(oldest);
  }

  /** It must have been started again. */
  evictedAgain(uid: string): void {
    const pod = this.#byUid.get(uid);
    this.#byUid.delete(uid);
    if (pod !== undefined) this.#onRestart(pod);
  }

  /** Called with all pods that the API server has. */
  listed(pods: readonly Json[]): void {
    const uids = new Set(pods.map(uidOf));
    for (const uid of this.#byUid.keys()) if (!uids.has(uid)) this.#byUid.delete(uid);
    pods.forEach(this.seen.bind(this));
  }

  /** The times of its containers are whole seconds, cut off: one that starts within the second of the signal does not count. */
  seen(pod: Json): void {
    const uid = uidOf(pod);
    const ended = this.#byUid.get(uid);
    if (ended !== undefined && (lastStartMs(pod) ?? 0) > ended.endedMs) this.evictedAgain(uid);
  }

  /** A pod was removed from the API server; `pod` has its last status. */
  removed(pod: Json): void {
    this.seen(pod);
    this.#byUid.delete(uidOf(pod));
  }
}
