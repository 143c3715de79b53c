/** A pod of the API. A pod of the same name with another uid is another one. */
export interface PodName {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
}

/**
 * A pod that evictd has ended and for which calls are owed, so that the kubelet does not start it again: the condition
 * DisruptionTarget (`mark`), then DELETE.
 */
export interface OwedPod extends PodName {
  /** Its decision. */
  readonly decision: number;
  /** Of the condition. */
  readonly reason: string;
  readonly message: string;
  /** Of the DELETE. */
  readonly graceSeconds: number;
  /** `settled`: no call is owed. It is remembered until the outcome of the eviction is recorded, so that a restart repeats none. */
  readonly next: 'mark' | 'delete' | 'settled';
  /** The outcome is recorded. */
  readonly isOver?: true;
}

/** The kubelet's grace period for a hard eviction. */
export const HARD_GRACE_SECONDS = 1;

/** The oldest first. */
export type Owed = readonly OwedPod[];

/** As many pods as a large node has. */
const OWED_AT_MOST = 256;
/** In UTF-8, as saved: the rest of the state shares the file, and must fit as well. */
const OWED_BYTES_AT_MOST = 48 * 1024;
/** In UTF-16 units. The journal has the whole message. */
const LONGEST_MESSAGE = 160;

/**
 * Adds a pod to the queue, or changes its entry. A smaller grace period than that of a DELETE that was sent needs another DELETE.
 *
 * @returns the same queue where nothing is owed anew; undefined: it is full
 */
export function owe(owed: Owed, pod: OwedPod): Owed | undefined {
  const known = owed.find(({ uid }) => uid === pod.uid);
  if (known === undefined) {
    const more = [...owed, { ...pod, message: pod.message.slice(0, LONGEST_MESSAGE) }];
    return more.length <= OWED_AT_MOST && savedBytes(more) <= OWED_BYTES_AT_MOST ? more : undefined;
  }
  const graceSeconds = Math.min(known.graceSeconds, pod.graceSeconds);
  const isShorter = graceSeconds < known.graceSeconds;
  const isNewer = pod.decision > known.decision; // it was started again meanwhile
  if (!isShorter && !isNewer) return owed;
  const next = known.next === 'settled' ? (isNewer ? 'mark' : 'delete') : known.next;
  const { isOver: _, ...rest } = known;
  return replaced(owed, { ...(isNewer ? rest : known), decision: pod.decision, graceSeconds, next });
}

/** The longest form that an entry may get counts: no later change makes the queue too large. */
function savedBytes(owed: Owed): number {
  return new TextEncoder().encode(JSON.stringify(owed.map((pod): OwedPod => ({ ...pod, next: 'settled', isOver: true })))).length;
}

/** @param sent  the call that was answered, as it was when it was sent: more may be owed since */
export function answered(owed: Owed, sent: OwedPod, answer: 'done' | 'gone'): Owed {
  const known = owed.find(({ uid }) => uid === sent.uid);
  if (known === undefined) return owed;
  if (answer === 'gone') return settled(owed, known);
  if (known.next !== sent.next) return owed;
  if (known.next === 'mark') return replaced(owed, { ...known, next: 'delete' });
  return known.graceSeconds < sent.graceSeconds ? owed : settled(owed, known);
}

/** The eviction is over. `isEvicted`: evictd may have ended it; otherwise nothing is owed for it any more. */
export function concluded(owed: Owed, decision: number, isEvicted: boolean): Owed {
  if (!owed.some((pod) => pod.decision === decision)) return owed;
  return owed.flatMap((pod) => {
    if (pod.decision !== decision) return [pod];
    return pod.next === 'settled' || !isEvicted ? [] : [{ ...pod, isOver: true as const }];
  });
}

/** Those with a call to be made, the oldest first. */
export function unsettled(owed: Owed): Owed {
  return owed.filter(({ next }) => next !== 'settled');
}

/** What is still owed for a pod whose calls may have been made already, by the pod as the API server has it now. */
export function stillOwed(
  pod: OwedPod,
  now: { readonly uid: string; readonly graceSeconds: number | undefined; readonly isMarked: boolean },
): OwedPod {
  const { uid, graceSeconds, isMarked } = now;
  if (uid !== pod.uid || (graceSeconds !== undefined && graceSeconds <= pod.graceSeconds)) return { ...pod, next: 'settled' };
  return pod.next === 'mark' && (isMarked || graceSeconds !== undefined) ? { ...pod, next: 'delete' } : pod;
}

function settled(owed: Owed, { uid, isOver }: OwedPod): Owed {
  return owed.flatMap((pod) => (pod.uid !== uid ? [pod] : isOver ? [] : [{ ...pod, next: 'settled' as const }]));
}

function replaced(owed: Owed, pod: OwedPod): Owed {
  return owed.map((other) => (other.uid === pod.uid ? pod : other));
}

/** The queue that the evictd before has saved, without what is no entry. */
export function owedOf(saved: unknown): Owed {
  if (!Array.isArray(saved)) return [];
  return saved.filter((one: Partial<Record<keyof OwedPod, unknown>> | null): one is OwedPod => {
    const { uid, namespace, name, reason, message, decision, graceSeconds, next } = one ?? {};
    const isText = [uid, namespace, name, reason, message].every((value) => typeof value === 'string');
    return isText && Number.isInteger(decision) && Number.isInteger(graceSeconds) && NEXT.has(next);
  });
}

const NEXT: ReadonlySet<unknown> = new Set<OwedPod['next']>(['mark', 'delete', 'settled']);

/** The wait before a failed call is made again: 0.5 to 1 s at first, at most 15 to 30 s. @param random  0 to 1, so that nodes differ */
export function retryMs(failures: number, random: number): number {
  return Math.min(30_000, 1_000 * 2 ** (failures - 1)) * (0.5 + random / 2);
}
