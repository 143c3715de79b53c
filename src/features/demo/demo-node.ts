import type { ChildProcess } from 'node:child_process';

/** The node of the demo and its workloads. The demo creates and removes it. */
export interface DemoNode {
  /** The first line of the demo. */
  readonly introduction: string;
  /** Its memory. */
  readonly limitBytes: bigint;
  /** evictd evicts when less is available. */
  readonly thresholdBytes: bigint;
  /** The description for JSON. */
  readonly described: {
    readonly cgroup: string | null;
    readonly cgroupVersion: 1 | 2 | null;
    readonly limitBytes: number;
    readonly threshold: string;
  };
  /** A directory in memory; undefined: none. */
  readonly inMemory: string | undefined;
  /** The name of a workload for evictd. */
  nameOf(name: string): string;
  /** Configuration keys for threshold, node and sources. Call it when the workloads have allocated their memory. */
  settings(): Readonly<Record<string, unknown>>;
  /** The command that starts a program in a workload. */
  command(name: string, program: readonly string[]): readonly [command: string, ...args: string[]];
  /** Call it when the program has started. */
  started(name: string, pid: number): void;
  /** Whether children get a session of their own, so that Ctrl-C reaches only the demo. */
  readonly detached: boolean;
  /** Stops the evictd with this runtime directory. */
  stop(evictd: ChildProcess, directory: string): void;
  /** The working set of a workload, or of the node without a name; undefined: unreadable. */
  workingSetBytes(name?: string): bigint | undefined;
  processes(name: string): readonly number[];
  /** Processes of the node that the OOM killer killed. */
  oomKills(): number;
  /** The file of that count; undefined: no OOM killer. */
  readonly oomKillSource: string | undefined;
  /** Kills its processes and removes it. Returns what remains to be done by hand; undefined: nothing. */
  remove(): Promise<string | undefined>;
}
