/** What another process may ask the evictd of a node for, beside the signals that the process edge hears. */
export interface Requests {
  readonly reload: () => void;
  readonly stop: () => void;
}

/** Whom to ask. */
export interface Asked {
  readonly pid: number;
  /** The file that he holds. */
  readonly lock: string;
  /** Whether he holds it still: looked at when nobody else can be meant any more. */
  readonly isStill: () => boolean;
}
