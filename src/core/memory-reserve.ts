/** Memory that no process can ever have. Bytes. */
export interface MemoryReserve {
  readonly totalBytes: bigint;
  /** vm.min_free_kbytes: below it only the kernel itself may allocate. */
  readonly minFreeBytes: bigint;
  /** The pools of huge pages, of all sizes: set aside, whether they are used or not. */
  readonly hugePagesBytes: bigint;
  /** What the kernel holds for itself now; 0n where the node counts it as used (a cgroup). */
  readonly kernelBytes: bigint;
}
