import type { MemoryHoldings } from '../../core/budget/growth-base.js';
import type { Effect } from '../../core/decide/effect.js';
import type { LaterProcess, SystemdAnswer, UnitDecision } from '../../core/decide/eviction.js';
import type { StepInput } from '../../core/decide/step-input.js';
import type { EvictionCause } from '../../core/rank/eviction-cause.js';
import type { Observations } from '../../core/signal/observation.js';
import type { Stall } from '../../core/signal/pressure-share.js';
import type { OomTally } from '../../core/oom/oom-kill-count.js';
import type { ReclaimReading } from '../../core/reclaim/reclaim.js';
import type { LimitedCommand } from '../../core/systemd/limited-command.js';
import type { ResourceSignal, Signal } from '../../core/signal/signal.js';
import type { Policy, State } from '../../core/decide/state.js';
import type { NotifierState } from '../../core/threshold/notifier-state.js';
import type { Threshold } from '../../core/threshold/threshold.js';
import type { WorkloadProcess } from '../../core/workload/process.js';
import type { PolicyAnswers } from './policy-port.js';
import type { SourceProblem } from './source-problem.js';
import type { OrderCondition } from './standing-order.js';
import type { Wake } from './wake.js';
import type { Candidates, Workload } from '../../core/workload/workload.js';

export type { ContainerFiles, ContainerRuntime, ReportedFilesystems } from './container-runtime.js';
export type { ServiceManager } from './service-manager.js';
export type { SourceProblem } from './source-problem.js';
export type { UnitJob, UnitManager } from './unit-port.js';
export type { NotifierMechanism, NotifierState } from '../../core/threshold/notifier-state.js';
export type { Wake, WakeSource } from './wake.js';

export interface NodeIdentity {
  /** 'machine' or the node cgroup's path. */
  readonly name: string;
  readonly cgroup: string | undefined;
  /** Id of the node cgroup: one that was removed and made again has another. Left out: the machine. */
  readonly cgroupId?: bigint;
  readonly cgroupVersion: 1 | 2 | undefined; // undefined: no cgroups
}

/** The node: the machine or a cgroup. A tick reads nothing else. */
export interface Node {
  readonly identity: NodeIdentity;
  /** Memory that the kernel holds for itself is in use by memory.available. Left out: it counts as available. */
  readonly countsKernelMemory?: boolean;
  /**
   * One pass: memory and process ids as of now, filesystems as of their last reading, each with its own time. Never
   * throws: what could not be read is missing, with a reason.
   */
  read(): Observations;
  /** How long tasks have waited so far, for a client of the metrics. Left out: it is not measured. */
  stalls?(): readonly Stall[];
  /** The layout of the filesystems by their last answers, or which filesystem has not answered yet. */
  layout(): StepInput['layout'];
  /**
   * Reads what changes at any time (not pressure and swap), and returns it if a tick may go without a pass: the limits
   * that notifiers were armed by still hold, and no reading is due. undefined, or left out: it may not.
   */
  steady?(): Observations | undefined;
  /**
   * Requests new filesystem readings. Calls `onAnswer` with the number of outstanding ones at each answer; one may
   * never come. Never blocks.
   */
  requestFilesystems(onAnswer?: (outstanding: number) => void): void;
  /**
   * Arms the notifiers for the thresholds, moves them, and retries those that are not live. Cheap where nothing moved.
   * A threshold that is already crossed does not wake: read afterwards. Returns whether anything was armed or moved.
   *
   * @param alsoRead  signals that policies need, whether or not a threshold does
   */
  arm(thresholds: readonly Threshold[], onWake: (wake: Wake) => void, alsoRead?: readonly Signal[]): boolean;
  /** When `look` has to be called, monotonic clock; undefined: never. */
  lookAtNs(): bigint | undefined;
  /**
   * Takes a reading that later ones need, for a share of the last seconds. Returns whether a threshold was crossed
   * since the last reading that was `decided` on, so that a pass is due. Never throws.
   */
  look(): boolean;
  /** A pass has decided on these observations: a crossing in them needs no further pass. */
  decided(observations: Observations): void;
  /**
   * What the native layer can compare to see that this threshold of memory.available is crossed; undefined: nothing
   * now. The first is the node's value, which has reached `atLeast` when one unit less than the threshold is available,
   * and rises by what is not available any more.
   */
  crossing(threshold: Pick<Threshold, 'value'>): readonly OrderCondition[] | undefined;
  notifiers(): readonly NotifierState[];
  /** The kernel's OOM kills below the node so far; undefined: the kernel has no such count. */
  oomKills(): number | undefined;
  close(): void;
}

export type CandidateReading = 'all' | 'bounds' | 'rehearsal';

export interface WorkloadSource {
  /**
   * Reads all candidates now. cgroups that vanish meanwhile are left out; what cannot be read is named. Never throws.
   *
   * @param reading  `bounds`: of many workloads only the usage; `Candidates.measure` reads the rest of one. `rehearsal`:
   * the same, and asks for facts that a decision may need soon. Default: all, and asks
   */
  candidates(reading?: CandidateReading): Candidates;
  /**
   * Updates what seldom changes, such as evictd's own cgroup, so that `candidates` need not. Called at every pass and
   * look. Never throws.
   */
  refresh(): void;
  /**
   * Another number when workloads have appeared, vanished or been replaced, as of the last `refresh` or `candidates`.
   * undefined, or left out: that is not known.
   */
  version?(): number | undefined;
  /**
   * The workload that a cgroup is, or is inside of, by its path alone: it may be removed already, or protected. The
   * innermost where workloads are nested. undefined: none.
   */
  holding(cgroup: string): { readonly name: string; readonly path: string } | undefined;
  /** Configured sources that are not there (yet). */
  problems(): readonly SourceProblem[];
  close(): void;
}

export interface OomCounterReader {
  /** Whether there was an OOM kill on the machine since the last `read` ended. Cheap. Never throws. */
  readonly moved: boolean;
  /** Reads the counters of all cgroups. Yields where it may be interrupted. Never throws. */
  read(): Generator<void, OomTally>;
  close(): void;
}

/** A kill under way, with the descriptors of the workload. Call close() at the end. */
export interface KillInProgress {
  /**
   * Sends SIGTERM to every process, once, and SIGCONT, so that a stopped process can handle it. Call again only after
   * 'unsent'. Never throws.
   */
  terminate(): SignalResult;
  /**
   * Sends SIGKILL to every process: cgroup.kill, or one pass of pidfds. Call again until `read` shows that no process
   * is left: it sends again what a repetition can help. Never throws.
   */
  kill(): SignalResult;
  /** Does what `kill` does, as far as that is without effect. Never throws. Left out: it has no such part. */
  rehearse?(): void;
  /**
   * Instead of `terminate`, where an earlier evictd has called it.
   *
   * @param isKilled  it has called `kill`, too, which is repeated all the same
   */
  resume?(isKilled: boolean): void;
  /**
   * What is left. `processes` is 0 only when no process is left, so one such reading is enough (on v1, where a reading
   * can miss a process that moves, it means two empty readings in a row). What cannot be read counts as one process.
   * `usageBytes` is undefined where the cgroup is removed or cannot be read.
   */
  read(): VictimSample;
  /**
   * Called after a signal. Calls `callback` when the last process has exited, as far as the kernel reports that:
   * read then. At most once, never during this call or after `close()`; the next call replaces it. Never throws.
   */
  onExit(callback: (atNs: bigint) => void): void;
  /** systemd's answer to the request to stop it; undefined: there was no request, or there is no answer yet. */
  systemd?(): SystemdAnswer | undefined;
  close(): void;
}
export interface SignalResult {
  /** When all signals of this call were sent, monotonic clock: a latency by it is rather too long than too short. */
  readonly atNs: bigint;
  /** undefined: not counted, because cgroup.kill needs no list. */
  readonly processes: number | undefined;
  /** The error of the call, as text; undefined: none. */
  readonly error: string | undefined;
  /**
   * Whether an error is temporary. 'unsent': no process got the signal because evictd lacks a resource; the same call
   * may succeed later. 'in part': some processes got it, or a stronger means is left. undefined: nothing more can be
   * done.
   */
  readonly passing?: 'unsent' | 'in part' | undefined;
}
export interface VictimSample {
  /** A lower bound: for a second after cgroup.kill processes are not counted. 0: none is left; later processes do not count. */
  readonly processes: number;
  readonly usageBytes: bigint | undefined;
  /** As in VictimReading. */
  readonly swapBytes?: bigint | undefined;
  readonly processorTicks?: bigint;
  readonly runs?: true;
  readonly later?: LaterProcess;
  /** The cgroup no longer exists. */
  readonly removed: boolean;
  /** As in VictimReading. */
  readonly stopping?: true;
  readonly queued?: true;
  readonly unanswered?: true;
  /** Why it may not be evicted now. It has got no signal. Left out: it may be evicted. */
  readonly refused?: string;
}

export interface Evictor {
  /**
   * Opens the workload's cgroup. Throws HostError if it was removed, or replaced by another one of the same name.
   *
   * @param unit  the decision for a systemd unit; undefined: the workload is none, and is ended by signals
   * @param graceNs  its grace period
   * @param isKilled  SIGKILL was sent already: a workload that has ended is not an error
   * @param process  only this one of its processes; the same error where it has ended or left
   * @param cause  why it is evicted; left out: it is not evicted
   */
  begin(
    workload: Workload,
    unit?: UnitDecision,
    graceNs?: bigint,
    isKilled?: boolean,
    process?: WorkloadProcess,
    cause?: EvictionCause,
  ): KillInProgress;
}

/** Node-level reclaim: frees a resource without ending a workload. */
export interface Reclaimer {
  /** Runs the collections for a signal in this order, whether or not one fails. Never rejects. */
  run(collections: readonly string[], signal: ResourceSignal): Promise<ReclaimReading>;
}

export interface CommandRunner {
  /**
   * Resolves when the program has ended, with its error; undefined: it succeeded. Takes its time limit and some seconds
   * at most. Never rejects.
   */
  run(command: LimitedCommand): Promise<string | undefined>;
}

/** `refused`: the program was not run. */
export type ProgramEnd = { readonly result: 'succeeded' } | { readonly result: 'failed' | 'refused'; readonly error: string };

/** Runs programs that operators have configured, if only root can change them. Never blocks. */
export interface ProgramRunner {
  /** Runs like CommandRunner, after the check, which has the same time limit. */
  run(command: LimitedCommand): Promise<ProgramEnd>;
  /** Why it would refuse a program, as far as that is known in time; undefined: it would not. Never rejects. */
  problemOf(program: string, withinMs: number): Promise<string | undefined>;
  /** Ends what runs as a child of evictd. */
  close(): void;
}

/** The questions that a step may ask while it decides. */
export type StepAnswers = Pick<StepInput, 'candidates' | 'recheck' | 'outside' | keyof PolicyAnswers>;

/** One step of the loop: its input and its result. Values only: nothing is read again. */
export interface StepReport extends PolicyAnswers {
  readonly wake: Wake;
  readonly policy: Policy;
  readonly input: Omit<StepInput, 'observe' | keyof StepAnswers>;
  /** undefined: not asked for, or the node could not be read. */
  readonly observations: Observations | undefined;
  /** The answers that the step asked for, in order; mostly none. */
  readonly candidates: readonly Candidates[];
  /** The readings after those, in order; mostly none. */
  readonly rechecks: readonly Observations[];
  /** What held memory outside the workloads, in order; mostly none. */
  readonly outside: readonly (MemoryHoldings | undefined)[];
  readonly state: State;
  readonly effects: readonly Effect[];
}

/** Called after every step, when its effects are performed and reported. Must not throw or wait. */
export interface StepListener {
  stepped(report: StepReport): void;
  /**
   * Called at a tick without a pass, with what it has read; undefined: nothing. Returns whether it can do without: false
   * leads to a pass at once. Left out: it needs a pass at every tick.
   */
  skipped?(nowNs: bigint, observations: Observations | undefined): boolean;
  close(): void;
}

/** Watches that the loop makes passes, and not only that the process exists. */
export interface Heartbeat {
  /** A pass was made, with everything that it decided. Does not wait or throw. */
  beat(nowNs: bigint): void;
  /** When the next pass must have been made, monotonic clock; undefined: there is no watchdog. */
  dueAtNs(): bigint | undefined;
}
