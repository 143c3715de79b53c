import type { StepInput } from '../../core/input.js';
import type { Observations } from '../../core/observation.js';
import type { Platform } from '../../core/operating-system.js';
import type { Rule } from '../../core/rule.js';
import type { Policy, State } from '../../core/state.js';
import type { Candidates, Protection } from '../../core/workload.js';
import type { CriSource, SystemdSource, WindowsSourceSpec } from '../../core/workload-source.js';
import type { NodeIdentity, Wake } from '../ports.js';

/**
 * Raised when an older evictd could not read it any more, or would read it wrongly. What came before 0.1.0, the first release, has not raised it (`shuttingDown` of a policy,
 * say): no released evictd is older.
 */
export const RECORDING_FORMAT = 1;

/** What is in force, as far as a step or the candidates depend on it. */
export interface RecordedConfig {
  /** By key as written in a file: for people. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** Cgroups whose children are the workloads. */
  readonly sources: readonly string[];
  /** Units that are the workloads. Left out: none. */
  readonly systemd?: readonly SystemdSource[];
  /** Container runtimes whose pods are the workloads. Left out: none. */
  readonly cri?: readonly CriSource[];
  /** Jobs, services and programs of Windows. Left out: none. */
  readonly windows?: readonly WindowsSourceSpec[];
  readonly rules: readonly Rule[];
  /** The files and flags as they were given, so that a replay can lay other flags over them. undefined: an older evictd recorded it. */
  readonly written?: {
    readonly files: readonly { readonly file: string; readonly settings: unknown }[];
    readonly flags: Readonly<Record<string, unknown>>;
    /** What it is for. Left out: Linux. */
    readonly platform?: Platform;
  };
}

/** The first line of every file, and of every run that goes on writing to one. */
export interface RecordingHeader {
  readonly format: number;
  /** Of the evictd that recorded it. */
  readonly version: string;
  readonly node: NodeIdentity;
  readonly dryRun: boolean;
  /** When this line was written, on both clocks. */
  readonly startedAt: string;
  readonly startedAtNs: bigint;
  readonly config: RecordedConfig;
}

/** Who may not be evicted after all, by workload id, as far as it was asked; undefined: nothing is against it. */
export type Vetoes = ReadonlyMap<string, Protection | undefined>;

/** What was asked for in a step, or what was read for the recording only. */
export interface RecordedCandidates {
  readonly candidates: Omit<Candidates, 'veto'>;
  readonly vetoes: Vetoes;
  /** Ids of those that would have gone, had there not been something to wait for. */
  readonly awaited: readonly string[];
}

/** A decision by its number in the run and its victim's id: what a replay is held against. */
export interface RecordedDecision {
  readonly serial: number;
  readonly victim: string;
}

export interface RecordedStep {
  readonly kind: 'step';
  readonly wake: Wake;
  readonly input: Omit<StepInput, 'observe' | 'candidates' | 'lastLook'>;
  readonly observations: Observations | undefined;
  readonly candidates: readonly RecordedCandidates[];
  /** What was read after the candidates. */
  readonly lastLooks: readonly Observations[];
  readonly decisions: readonly RecordedDecision[];
}

/** One entry of a recording, in the order in which things happened. */
export type RecordingEntry =
  /** In force from the next step on. */
  | { readonly kind: 'policy'; readonly policy: Policy }
  | { readonly kind: 'config'; readonly config: RecordedConfig }
  /** Replaces the state: this file continues another, or steps are missing before it. `lost`: how many. */
  | { readonly kind: 'state'; readonly state: State; readonly lost: number }
  | RecordedStep
  /** All candidates after the step before, though nobody had to go: for another configuration, under which somebody would have. */
  | ({ readonly kind: 'sample' } & RecordedCandidates)
  /** evictd was stopped, or goes on in the next file. `lost`: steps that are missing in the whole run so far. */
  | { readonly kind: 'end'; readonly lost: number };
