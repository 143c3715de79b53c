/** Whether a shutdown would wait for evictd. */
export type ShutdownDelayState =
  | { readonly kind: 'held' }
  /** The machine may go down; taken again when a shutdown is called off. */
  | { readonly kind: 'released' }
  /** Not had: no logind, or it cannot be asked. Tried again. */
  | { readonly kind: 'off'; readonly reason: string };

export interface ShutdownEvents {
  /** true: the machine is about to go down, and waits as long as the delay is held; false: it does not go down any more. */
  prepare(begins: boolean): void;
  changed(state: ShutdownDelayState): void;
}

/** Who takes the machine down and waits for whoever holds a delay lock (systemd-logind). */
export interface ShutdownDelay {
  readonly state: ShutdownDelayState;
  /** Once. Takes the lock, and again whenever it is lost. */
  start(events: ShutdownEvents): void;
  /** Lets the machine go down. Idempotent. */
  release(): void;
  close(): void;
}
