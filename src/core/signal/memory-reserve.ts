/** Memory that no process can get. Bytes. */
export interface MemoryReserve {
  readonly totalBytes: bigint;
  /** vm.min_free_kbytes: below it only the kernel may allocate. */
  readonly minFreeBytes: bigint;
  /** Pools of huge pages of all sizes, used or not. */
  readonly hugePagesBytes: bigint;
  /** Held by the kernel now, with the pools of zram and zswap; 0n where the node counts it as used (a cgroup). */
  readonly kernelBytes: bigint;
  /** SwapTotal. Left out: there is no swap. */
  readonly swapBytes?: bigint;
  /** What kswapd keeps free, by swapping if needed: the zones' high watermarks. Left out: unknown. */
  readonly highBytes?: bigint;
  /** Swap lies on zram: swapped pages stay in memory that the kernel holds. Left out: no. */
  readonly zram?: true;
}
