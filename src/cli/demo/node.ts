import type { ChildProcess } from 'node:child_process';

/** What the demo guards, and the workloads in it: made by the demo, and removed by it. */
export interface DemoNode {
  /** The first sentence of the demo. */
  readonly introduction: string;
  /** How much memory it has, for the bars. */
  readonly limitBytes: bigint;
  /** evictd acts when less is available. */
  readonly thresholdBytes: bigint;
  /** As JSON has it. */
  readonly described: {
    readonly cgroup: string | null;
    readonly cgroupVersion: 1 | 2 | null;
    readonly limitBytes: number;
    readonly threshold: string;
  };
  /** A directory of the machine's that lies in memory; undefined: there is none. */
  readonly inMemory: string | undefined;
  /** What a workload of the demo is called by evictd. */
  nameOf(name: string): string;
  /** The threshold, the node and the sources, as a configuration has them. To be asked when the workloads have their memory. */
  settings(): Readonly<Record<string, unknown>>;
  /** How a program is started as a part of a workload. */
  command(name: string, program: readonly string[]): readonly [command: string, ...args: string[]];
  /** It has been started. */
  started(name: string, pid: number): void;
  /** A session of its own: Ctrl-C is for the demo, which then ends everything in order. */
  readonly detached: boolean;
  /** Asks an evictd that was started with this directory to stop. */
  stop(evictd: ChildProcess, directory: string): void;
  /** What a workload uses, or all of the node; undefined: it cannot be read. */
  workingSetBytes(name?: string): bigint | undefined;
  processes(name: string): readonly number[];
  /** How many processes the kernel's OOM killer has killed in here. */
  oomKills(): number;
  /** Where that is read; undefined: there is no such killer. */
  readonly oomKillSource: string | undefined;
  /** Ends every process in it and removes it. Returns what is left to be done by hand; undefined: nothing. */
  remove(): Promise<string | undefined>;
}
