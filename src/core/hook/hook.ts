/** A program that evictd runs at every eviction. */
export interface HookCommand {
  /** Absolute path and arguments. */
  readonly argv: readonly string[];
  /** It is ended after this time. */
  readonly timeoutNs: bigint;
}

/** The signal waits for it, at most until its deadline. */
export interface Deadline {
  readonly deadlineNs: bigint;
}

/** undefined: not configured. */
export interface HooksConfig {
  readonly preEvict: (HookCommand & Deadline) | undefined;
  readonly postEvict: HookCommand | undefined;
  /** The sockets of io.systemd.oom.Prekill are called. The signal waits as long as for `preEvict`. */
  readonly prekill: Deadline | undefined;
}

export type HookName = keyof HooksConfig;

/**
 * `late`: the deadline has passed, and the eviction went on; the hook may still run. `refused`: it was not run, because
 * it is missing, another user could change it, or too many hooks run.
 */
export const HOOK_RESULTS = ['succeeded', 'failed', 'late', 'refused'] as const;
export type HookResult = (typeof HOOK_RESULTS)[number];
