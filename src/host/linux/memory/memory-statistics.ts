/** A cgroup with a memory.stat. */
export interface StatisticsOf {
  readonly directory: string;
  readonly version: 1 | 2;
}
