/**
 * The usage above which less than `threshold` is available: capacity − threshold + reclaimable, which is inactive_file
 * on a kubelet (eviction/threshold_notifier_linux.go). In bytes; negative if the threshold exceeds the capacity.
 */
export function usageThreshold(capacity: bigint, threshold: bigint, reclaimable: bigint): bigint {
  return capacity - threshold + reclaimable;
}

/**
 * The usage to register on cgroup v1 for a usage threshold: the first whole page above it. The kernel rounds the
 * registered bytes down to pages and fires when usage reaches them (mm/memcontrol-v1.c, __mem_cgroup_threshold).
 * Eviction needs strictly less than the threshold: registering it unchanged would fire at equality, and stay silent
 * when usage then rises. At least one page.
 */
export function registeredUsage(usageThresholdBytes: bigint, pageSize: bigint): bigint {
  return usageThresholdBytes < 0n ? pageSize : (usageThresholdBytes / pageSize + 1n) * pageSize;
}

/**
 * The memory in use (usage − reclaimable) from which less than `threshold` is available, for the sampler, which wakes
 * at `≥`. At least one byte, so that it can be crossed both ways.
 */
export function usedLimit(capacity: bigint, threshold: bigint): bigint {
  const limit = capacity - threshold + 1n;
  return limit < 1n ? 1n : limit;
}
