import type { PolicyEffect, PolicyResult } from '../../core/policy/policy-action.js';
import type { PolicyReadings, ScopeReading } from '../../core/policy/scope-reading.js';

/** What policies read and do, besides evictions. Never throws. */
export interface PolicyPort {
  /** One pass over the scopes of all policies. undefined: nothing could be read. */
  read(): PolicyReadings | undefined;
  /** The values that victims are compared by, of these cgroups. What could not be read is left out. */
  workloads(paths: readonly string[]): readonly ScopeReading[];
  /**
   * Begins an action and returns. `unthrottle` and `thaw` are done when it returns; what cannot be given back is tried
   * again until the cgroup is gone.
   */
  perform(effect: PolicyEffect): void;
  /** What has become of actions since the last call, in order. */
  results(): readonly PolicyResult[];
  /** Gives everything back. */
  close(): void;
}
