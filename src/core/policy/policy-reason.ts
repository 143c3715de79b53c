/** Why a policy acts. */
export interface PolicyReason {
  /** Its name. */
  readonly policy: string;
  /** Path of the cgroup; '': the node. */
  readonly scope: string;
  /** As text: 'memory.pressure.full > 40%'. */
  readonly condition: string;
  /** What the condition's metrics were: 'memory.pressure.full' to 0.452. A missing one was not known. */
  readonly values: Readonly<Record<string, number>>;
}
