/** What `evictd reload` and `evictd resume` ask of a running evictd. */
export type Request = 'reload' | 'resume';

/** What another process may request, other than by a signal. */
export interface Requests {
  readonly reload: () => void;
  readonly resume: () => void;
  readonly stop: () => void;
}

/** The evictd to ask. */
export interface RequestTarget {
  readonly pid: number;
  /** Its lock file. */
  readonly lock: string;
  /** Whether it still holds the lock: called when the pid can no longer be reused. */
  readonly isCurrent: () => boolean;
}
