import { jsonBytes } from '../name/json-text.js';

/** A pod of the API. A pod of the same name with another uid is another one. */
export interface PodName {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
}

/**
 * A pod that evictd has ended, and that is still to be deleted at the API server, so that the kubelet does not start it again: first
 * the condition DisruptionTarget, then DELETE.
 */
export interface PendingDeletion extends PodName {
  readonly decision: number;
  /** The reason of the condition DisruptionTarget. */
  readonly reason: string;
  readonly message: string;
  /** gracePeriodSeconds of the DELETE. */
  readonly graceSeconds: number;
  /** `done`: no call is left. It is remembered until the outcome of the eviction is recorded, so that a restart repeats none. */
  readonly next: 'condition' | 'delete' | 'done';
  /** evictd has sent SIGTERM itself: the API server had not answered. */
  readonly isSignalled?: true;
  /** When a signal had reached it (wall clock, ms), or that its kubelet has started it again since. Left out: none has reached it. */
  readonly ended?: number | 'restarted';
  /** The outcome is recorded. */
  readonly isOver?: true;
}

/** A pod that a signal of evictd has reached. */
export interface EndedPod extends PodName {
  readonly decision: number;
  readonly endedMs: number;
}

const COMMON_REASON = 'TerminationByKubelet';

/** The kubelet's grace period for a hard eviction. */
export const HARD_GRACE_SECONDS = 1;

/** The oldest first. */
export type PendingDeletions = readonly PendingDeletion[];

/** The maximum number of pods, as many as a large node has. */
const MAX_PENDING = 256;
/** The limit in UTF-8, as saved: the rest of the state shares the file, and must fit as well. */
const MAX_PENDING_BYTES = 48 * 1024;
/** The year 2286: times until then have as many digits. */
const LATEST_MS = 9_999_999_999_999;
/** The limit in UTF-16 units. The journal has the whole message. */
const LONGEST_MESSAGE = 160;

/**
 * Adds a pod to the queue, or changes its entry. A smaller grace period than that of a DELETE that was sent needs another DELETE.
 *
 * @returns the same queue where it has no new call; without the messages where they have no room; undefined: it is full
 */
export function addDeletion(pending: PendingDeletions, pod: PendingDeletion): PendingDeletions | undefined {
  const known = pending.find(({ uid }) => uid === pod.uid);
  if (known === undefined) {
    const more = [...pending, { ...pod, message: pod.message.slice(0, LONGEST_MESSAGE) }];
    return [more, more.map(withoutMessage)].find((each) => each.length <= MAX_PENDING && savedBytes(each) <= MAX_PENDING_BYTES);
  }
  const graceSeconds = Math.min(known.graceSeconds, pod.graceSeconds);
  const isShorter = graceSeconds < known.graceSeconds;
  const isNewer = pod.decision > known.decision; // it was started again meanwhile
  if (!isShorter && !isNewer) return pending;
  const next = known.next === 'done' ? (isNewer ? 'condition' : 'delete') : known.next;
  const { isOver: _, isSignalled: __, ended: ___, ...rest } = known;
  return replaced(pending, { ...(isNewer ? rest : known), decision: pod.decision, graceSeconds, next });
}

/** The queue with the newest facts about a pod; the same queue if it has no such pod. */
export function noted(pending: PendingDeletions, uid: string, now: Pick<PendingDeletion, 'isSignalled' | 'ended'>): PendingDeletions {
  const known = pending.find((pod) => pod.uid === uid);
  return known === undefined ? pending : replaced(pending, { ...known, ...now });
}

/** The kubelet has started an evicted pod again, because its deletion had not reached the API server, or the kubelet. */
export function restartText({ namespace, name, decision }: EndedPod): string {
  return `the kubelet has started ${namespace}/${name} again since its eviction (decision ${String(decision)})`;
}

function withoutMessage(pod: PendingDeletion): PendingDeletion {
  return { ...pod, message: '' };
}

/** An entry as it is saved: short, because 256 of them must fit. `ended`: 0: none. `reason`: '': the most common one. */
export type SavedDeletion = readonly [
  ...[uid: string, namespace: string, name: string, decision: number, graceSeconds: number],
  ...[next: PendingDeletion['next'], ended: number | 'restarted', flags: number, reason: string, message: string],
];

const FLAGS = { isSignalled: 1, isOver: 2 } as const;

export function savedForm(pod: PendingDeletion): SavedDeletion {
  const { uid, namespace, name, decision, graceSeconds, next, ended = 0, reason, message } = pod;
  const flags = (pod.isSignalled ? FLAGS.isSignalled : 0) | (pod.isOver ? FLAGS.isOver : 0);
  return [uid, namespace, name, decision, graceSeconds, next, ended, flags, reason === COMMON_REASON ? '' : reason, message];
}

export function ofSavedForm(saved: SavedDeletion): PendingDeletion {
  const [uid, namespace, name, decision, graceSeconds, next, ended, flags, reason, message] = saved;
  return {
    ...{ uid, namespace, name, decision, reason: reason || COMMON_REASON, message, graceSeconds, next },
    ...((flags & FLAGS.isSignalled) !== 0 && { isSignalled: true as const }),
    ...(ended !== 0 && { ended }),
    ...((flags & FLAGS.isOver) !== 0 && { isOver: true as const }),
  };
}

/** The longest form that an entry may get counts: no later change makes the queue too large. */
function savedBytes(pending: PendingDeletions): number {
  const longest = { next: 'condition', isSignalled: true, ended: LATEST_MS, isOver: true } as const;
  return jsonBytes(pending.map((pod) => savedForm({ ...pod, ...longest })));
}

/** @param sent  the call that was answered, as it was when it was sent: there may be more to do since */
export function answered(pending: PendingDeletions, sent: PendingDeletion, answer: 'done' | 'gone'): PendingDeletions {
  const known = pending.find(({ uid }) => uid === sent.uid);
  if (known === undefined) return pending;
  if (answer === 'gone') return finished(pending, known);
  if (known.next !== sent.next) return pending;
  if (known.next === 'condition') return replaced(pending, { ...known, next: 'delete' });
  return known.graceSeconds < sent.graceSeconds ? pending : finished(pending, known);
}

/** The eviction is over. `isEvicted`: evictd may have ended it; otherwise there is no call to be made for it any more. */
export function concluded(pending: PendingDeletions, decision: number, isEvicted: boolean): PendingDeletions {
  if (!pending.some((pod) => pod.decision === decision)) return pending;
  return pending.flatMap((pod) => {
    if (pod.decision !== decision) return [pod];
    return pod.next === 'done' || !isEvicted ? [] : [{ ...pod, isOver: true as const }];
  });
}

/** The pods with a call to be made, the oldest first. */
export function unfinished(pending: PendingDeletions): PendingDeletions {
  return pending.filter(({ next }) => next !== 'done');
}

/** What is still to be done for a pod whose calls may have been made already, by the pod as the API server has it now. */
export function stillPending(
  pod: PendingDeletion,
  now: { readonly uid: string; readonly graceSeconds: number | undefined; readonly hasCondition: boolean },
): PendingDeletion {
  const { uid, graceSeconds, hasCondition } = now;
  if (uid !== pod.uid || (graceSeconds !== undefined && graceSeconds <= pod.graceSeconds)) return { ...pod, next: 'done' };
  return pod.next === 'condition' && (hasCondition || graceSeconds !== undefined) ? { ...pod, next: 'delete' } : pod;
}

function finished(pending: PendingDeletions, { uid, isOver }: PendingDeletion): PendingDeletions {
  return pending.flatMap((pod) => (pod.uid !== uid ? [pod] : isOver ? [] : [{ ...pod, next: 'done' as const }]));
}

function replaced(pending: PendingDeletions, pod: PendingDeletion): PendingDeletions {
  return pending.map((other) => (other.uid === pod.uid ? pod : other));
}

/** The deletions that the previous evictd left. @param inFlight  serials of evictions whose outcome is still to be recorded */
export function continued(saved: PendingDeletions, inFlight: ReadonlySet<number>): PendingDeletions {
  return saved.flatMap((pod) => {
    if (inFlight.has(pod.decision)) return [pod];
    return pod.next === 'done' ? [] : [{ ...pod, isOver: true as const }];
  });
}
