/** Whether a shutdown waits for evictd. */
export type ShutdownDelayState =
  | { readonly kind: 'held' }
  /** The machine may go down. Taken again when the shutdown is cancelled. */
  | { readonly kind: 'released' }
  /** There is no logind, or it does not answer. Tried again. */
  | { readonly kind: 'off'; readonly reason: string };

export interface ShutdownEvents {
  /** true: the machine is about to go down, and waits while the delay is held; false: the shutdown is cancelled. */
  prepare(begins: boolean): void;
  changed(state: ShutdownDelayState): void;
}

/** A delay lock on the shutdown of the machine (systemd-logind). */
export interface ShutdownDelay {
  readonly state: ShutdownDelayState;
  /** Called once. Takes the lock, and takes it again whenever it is lost. */
  start(events: ShutdownEvents): void;
  /** Lets the machine go down. May be called twice. */
  release(): void;
  close(): void;
}
