/**
 * The usage beyond which less than `threshold` is available: capacity − threshold + inactive_file, where available = capacity − (usage − inactive_file)
 * (kubelet: eviction/threshold_notifier_linux.go). All in bytes; negative where the threshold is larger than the capacity.
 */
export function usageThreshold(capacity: bigint, threshold: bigint, inactiveFile: bigint): bigint {
  return capacity - threshold + inactiveFile;
}

/**
 * The usage to register on cgroup v1 for a usage threshold: the first whole page beyond it.
 *
 * The kernel cuts the registered bytes to whole pages and fires when usage comes to stand at or above them (mm/memcontrol-v1.c,
 * __mem_cgroup_threshold). Eviction wants strictly less than the threshold: registering the usage threshold itself would fire at equality, where
 * nothing is met yet, and be silent when usage goes on from there. At least one page: below it nothing is left to wait for.
 */
export function registeredUsage(usageThresholdBytes: bigint, pageSize: bigint): bigint {
  return usageThresholdBytes < 0n ? pageSize : (usageThresholdBytes / pageSize + 1n) * pageSize;
}

/**
 * The working set (usage − inactive_file) from which on less than `threshold` is available: what the sampler, which wakes at `≥`, compares
 * with. At least one byte, so that it can be crossed in either direction.
 */
export function workingSetLimit(capacity: bigint, threshold: bigint): bigint {
  const limit = capacity - threshold + 1n;
  return limit < 1n ? 1n : limit;
}
