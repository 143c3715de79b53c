import type { Effect } from '../core/effect.js';
import type { SystemdAnswer, UnitDecision } from '../core/eviction.js';
import type { StepInput } from '../core/input.js';
import type { LoadedUnit } from '../core/loaded-unit.js';
import type { Observations } from '../core/observation.js';
import type { OomProcess } from '../core/oom-order.js';
import type { OomTally } from '../core/oom-tally.js';
import type { ReclaimReading } from '../core/reclaim.js';
import type { LimitedCommand } from '../core/limited-command.js';
import type { OomScoreAdjTarget } from '../core/oom-score-adj-target.js';
import type { ResourceSignal, Signal } from '../core/signal.js';
import type { Policy, State } from '../core/state.js';
import type { Threshold } from '../core/threshold.js';
import type { Candidates, Workload } from '../core/workload.js';

export type { ContainerFiles, ContainerRuntime, ToldFilesystems } from './container-runtime.js';
export type { ServiceManager } from './service-manager.js';

/** Who said "look now", and when the native layer saw it (monotonic clock). */
export interface Wake {
  readonly source: WakeSource;
  readonly atNs: bigint;
  /** Nothing is crossed, but it may be within milliseconds. */
  readonly approaching?: true | undefined;
  /** Of memory.events and memory.oom_control: which counters moved, named as there. */
  readonly counters?: readonly string[];
}
export type NotifierMechanism = 'memcg_threshold' | 'sampler' | 'psi_trigger' | 'memcg_events' | 'memcg_oom' | 'memory_notification';
export type WakeSource =
  NotifierMechanism | 'start' | 'tick' | 'look' | 'deadline' | 'victim' | 'reload' | 'filesystem' | 'reclaim' | 'watchdog';

/** One notification source that should be live. `signal`: what it watches for. */
export interface NotifierState {
  readonly mechanism: NotifierMechanism;
  readonly signal: Signal;
  /** The file or cgroup, and the limit: 'memory.usage_in_bytes ≥ 201326592 of /demo'. */
  readonly target: string;
  readonly live: boolean;
  /** Why it is not live; of a live one: why it is not where it should be, its target is then where it is. */
  readonly reason: string | undefined;
  readonly hint: string | undefined;
  /** Whether reaction degrades to polling without it (the threshold notifier), or it is only an additional source. */
  readonly essential: boolean;
  /** Of a live sampler: how soon it looks again, which follows how far the limit is. */
  readonly periodMs?: number | undefined;
}

export interface NodeIdentity {
  /** 'machine' or the node cgroup's path. */
  readonly name: string;
  readonly cgroup: string | undefined;
  /** Of the node cgroup: it is another one when it was removed and made again. Left out: the machine. */
  readonly cgroupId?: bigint;
  readonly cgroupVersion: 1 | 2 | undefined; // undefined: there are no cgroups
}

/** The node: the machine or a cgroup of it. The only thing that a tick reads. */
export interface Node {
  readonly identity: NodeIdentity;
  /**
   * One pass: memory and process ids read now, filesystems as of their last reading (each with its own time). Never throws: what could not be
   * read is missing with a reason.
   */
  read(): Observations;
  /** Which filesystems it has, by what they last answered; or which has not answered yet. */
  layout(): StepInput['layout'];
  /** Asks for new filesystem readings; `onAnswer` at each that comes, with how many are still awaited: one may never come. Never blocks. */
  requestFilesystems(onAnswer?: (outstanding: number) => void): void;
  /**
   * Arms, or moves, what wakes on crossing one of the thresholds; retries what is not live. Cheap where nothing moved. A threshold that is
   * already crossed does not wake: read afterwards. Tells whether anything was armed or moved.
   */
  arm(thresholds: readonly Threshold[], onWake: (wake: Wake) => void): boolean;
  /** When `look` is due, monotonic clock; undefined: never. */
  lookAtNs(): bigint | undefined;
  /**
   * Takes a reading that later ones need (a share of the last seconds), and tells whether a threshold was crossed since the last reading that was `decided` on,
   * so that a pass is due. Never throws.
   */
  look(): boolean;
  /** A pass has decided on these: what they show crossed needs no other pass. Any other reading of the node decides nothing. */
  decided(observations: Observations): void;
  notifiers(): readonly NotifierState[];
  /** The kernel's OOM kills below the node so far, undefined where the kernel does not tell. */
  oomKills(): number | undefined;
  close(): void;
}

/** Where candidates come from. */
export interface WorkloadSource {
  /** One pass over all candidates, now. cgroups that vanish meanwhile are left out; what cannot be read is named. Never throws. */
  candidates(): Candidates;
  /** Looks again at what seldom changes (where evictd itself lives), so that `candidates` need not: called at every tick. Never throws. */
  refresh(): void;
  /**
   * The workload that a cgroup is, or lies in, from its path alone: it may be gone already, and it may be protected. Of nested ones the innermost. undefined:
   * it belongs to none.
   */
  holding(cgroup: string): { readonly name: string; readonly path: string } | undefined;
  /** Sentences about sources that are not there (yet). */
  problems(): readonly SourceProblem[];
  close(): void;
}
export interface SourceProblem {
  /** The cgroup that a source is looked for in; left out: of all of them. */
  readonly root?: string;
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
}

/** The kernel's counters of OOM kills below the node. */
export interface OomCounterReader {
  /** Whether the kernel has killed anybody on the machine since the last `read` ended. Cheap. Never throws. */
  readonly moved: boolean;
  /** Yields where it may be interrupted: it looks through the cgroups. Never throws. */
  read(): Generator<void, OomTally>;
  close(): void;
}

/** A kill under way. Owns what it holds of the workload; close() when done. */
export interface KillInProgress {
  /**
   * SIGTERM to every process, once, and SIGCONT, without which a stopped one would not handle it. Call again only where it was 'unsent'. Returns after the signals
   * were sent. Never throws.
   */
  terminate(): SignalResult;
  /** SIGKILL to everything in it: cgroup.kill, or one pass of pidfds. Call again (`read` tells) until nothing is left. Never throws. */
  kill(): SignalResult;
  /** Instead of `terminate`, where an evictd before has called that; `isKilled`: or `kill`, which is called again all the same. */
  resume?(isKilled: boolean): void;
  /**
   * What is left: `processes` 0 only when no process is left, so one such answer is enough (on v1, where one reading can miss a process that moves, it
   * stands for two empty readings in a row). What cannot be read counts as one process. `usageBytes` undefined where the cgroup is gone or cannot be read.
   */
  read(): VictimSample;
  /**
   * To be called after a signal: `callback` when the last process has exited, as far as that is told; look then. At most once, never from inside this call nor
   * after `close()`; the next call replaces it. Never throws: where nobody tells, only looking shows.
   */
  onExit(callback: (atNs: bigint) => void): void;
  /** What systemd has said to being asked to stop it; left out, or undefined: it was not asked, or has not answered yet. */
  systemd?(): SystemdAnswer | undefined;
  close(): void;
}
export interface SignalResult {
  /** When the signals of this call had been sent, monotonic clock: latencies measured with it are rather too long than too short. */
  readonly atNs: bigint;
  readonly processes: number;
  /** The error of the call, for people; undefined: fine. */
  readonly error: string | undefined;
  /**
   * Of an error that does not end it. 'unsent': nobody got the signal, because evictd was short of something; the same call may work the next time. 'in part':
   * some got it, or a stronger means is left. undefined: nothing can be done.
   */
  readonly passing?: 'unsent' | 'in part' | undefined;
}
export interface VictimSample {
  readonly processes: number;
  readonly usageBytes: bigint | undefined;
  /** The cgroup itself no longer exists. */
  readonly removed: boolean;
  /** As in VictimReading. */
  readonly stopping?: true;
  readonly queued?: true;
}

export interface Evictor {
  /**
   * Holds the workload's cgroup. Throws HostError if it is not there any more (or is another one of the same name).
   *
   * @param unit  what was decided of it as a systemd unit; undefined: it is none, and is ended by signals
   * @param graceNs  how long it has to end
   */
  begin(workload: Workload, unit?: UnitDecision, graceNs?: bigint): KillInProgress;
}

/** What systemd is asked to do with a unit, as `systemctl --no-block` would ask: a start or stop job that replaces one that is in its way. */
export interface UnitJob {
  readonly type: 'start' | 'stop';
  readonly unit: string;
}
/** systemd's system manager, by a connection that is kept open. Nothing of it waits or throws. */
export interface UnitManager {
  /** Whether a request would go out now. Where there is no connection one is begun, and begun again, less and less often. */
  reach(): boolean;
  /**
   * What systemd last said about a unit; undefined: it was not asked yet, or has not loaded it. While there is no connection what was known stays. Followed units,
   * and what stops with them or triggers them, are read again when systemd says that they have changed. What was asked for since `sureSinceNs` is not `unsure`.
   */
  unit(name: string, sureSinceNs?: bigint): LoadedUnit | undefined;
  /**
   * The units that matter, all of them at every call: others are forgotten. Asks for those that are not known, and never for so many at once that systemd would be
   * busy with it: some hundred are known after some seconds. To be called at ticks.
   */
  follow(names: Iterable<string>): void;
  /**
   * Whether systemd is about to tell of this unit what decides over it: all, or, where it is `unsure`, what hangs on it now. It is asked at once if it was not yet; no
   * more where that is known, where there is no such unit, and where systemd has had its time (250 ms, or `withinNs`). What was asked for by this is sure for 250 ms,
   * whoever comes, and what was asked for since `sureSinceNs` for good: to be asked for a unit that is not loaded makes systemd load it, which is somebody who comes.
   * With `sureSinceNs` what has changed since it was read is awaited, too, and systemd has its time from then on, also where it cannot be asked now.
   */
  awaited(name: string, withinNs?: bigint, sureSinceNs?: bigint): boolean;
  /**
   * Asks for jobs, in this order. The function returns the answer when all of them are answered, and undefined until then; where the connection is lost before, it is
   * open whether systemd does them. undefined: there is no connection, nothing was asked for.
   */
  request(jobs: readonly UnitJob[], onAnswer?: (answer: SystemdAnswer) => void): (() => SystemdAnswer | undefined) | undefined;
  /** Those that are followed beside the others, whoever follows. */
  watch(names: Iterable<string>): void;
  /** Why there is no connection though systemd is this machine's init; undefined: there is one, or there is none to be had. */
  problem(): SourceProblem | undefined;
  close(): void;
}

/** What frees a resource without hurting a workload. */
export interface Reclaimer {
  /** Runs them one after the other for a signal, whether or not one fails. Never rejects. */
  run(collections: readonly string[], signal: ResourceSignal): Promise<ReclaimReading>;
}

/** Has programs run by the service manager. */
export interface CommandRunner {
  /** Resolves when it has ended, with why it has failed; undefined: it has not. Within its time and some seconds. Never rejects. */
  run(command: LimitedCommand): Promise<string | undefined>;
}

/** One step of the loop: what it was told, and what came of it. Values, nothing is read again. */
export interface StepReport {
  readonly wake: Wake;
  readonly policy: Policy;
  readonly input: Omit<StepInput, 'observe' | 'candidates' | 'lastLook'>;
  /** undefined: not asked for, or the node could not be read. */
  readonly observations: Observations | undefined;
  /** Each answer that the step asked for, in order; mostly none. */
  readonly candidates: readonly Candidates[];
  /** What was read after them, in order; mostly none. */
  readonly lastLooks: readonly Observations[];
  readonly state: State;
  readonly effects: readonly Effect[];
}

/** Is told of every step after what it decided was done and said. Must not throw and must not wait. */
export interface StepListener {
  stepped(report: StepReport): void;
  /** The loop has stopped. */
  close(): void;
}

/** Of whoever wants to know that the loop goes round, and not only that the process is there. */
export interface Heartbeat {
  /** A pass over the node was made, and what it decided was done. Neither waits nor throws. */
  beat(nowNs: bigint): void;
  /** A pass must have been made by then, monotonic clock; undefined: nobody is watching. */
  dueAtNs(): bigint | undefined;
}

/**
 * Writes oom_score_adj, keeps the values found, and gives them back. What goes wrong with a process is said in the log; where evictd itself is short of
 * something (descriptors, memory), `look`, `measure` and `write` throw, and all may be begun again. What takes long yields after a few processes, so
 * that it can be interrupted, or given up.
 */
export interface OomScoreAdjuster {
  /** The processes of a workload, with the values found; those that are left alone are not among them. undefined: they cannot be listed. */
  look(workload: Workload): Generator<void, readonly OomProcess[] | undefined>;
  /** The same of a workload that is never written to: nothing is kept of it. */
  measure(workload: Workload): Generator<void, readonly OomProcess[]>;
  /** Keeps in a file what was found in those that are going to be written to. false: it cannot be kept, so nothing may be written. */
  keep(targets: readonly OomScoreAdjTarget[]): boolean;
  /** Writes to what `look` has seen and `keep` has kept. Tells whether processes have come since: `keep` and `write` once more. */
  write(target: OomScoreAdjTarget): Generator<void, boolean>;
  /** Gives back to all processes but those of these workloads. */
  giveBackOthers(targets: readonly OomScoreAdjTarget[]): void;
  /** Gives everything back. What cannot be given back stays in the file. */
  giveBack(): GivenBack;
}
export interface GivenBack {
  readonly processes: number;
  readonly failed: number;
}
