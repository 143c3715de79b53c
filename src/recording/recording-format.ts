import type { MemoryHoldings } from '../core/budget/growth-base.js';
import type { StepInput } from '../core/decide/step-input.js';
import type { Observations } from '../core/signal/observation.js';
import type { Platform } from '../core/signal/operating-system.js';
import type { Rule } from '../core/workload/rule.js';
import type { Policy, State } from '../core/decide/state.js';
import type { Candidates, Protection, WorkloadUsage } from '../core/workload/workload.js';
import type { PolicyAnswers } from '../monitor/ports/policy-port.js';
import type { NodeIdentity, StepAnswers, Wake } from '../monitor/ports/ports.js';

/** Raised when an older evictd could not read a recording, or would read it wrongly. */
export const RECORDING_FORMAT = 1;

/** The configuration in force, as far as a step or the candidates depend on it. */
export interface RecordedConfig {
  /** Settings by key as in a configuration file, for people. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** Workload sources as in a configuration: `{cgroup: '/workload.slice'}`. */
  readonly workloads: readonly Readonly<Record<string, unknown>>[];
  readonly rules: readonly Rule[];
  /** Files and flags as given, so that a replay can apply other flags. undefined: recorded by an older evictd. */
  readonly written?: {
    readonly files: readonly { readonly file: string; readonly settings: unknown }[];
    readonly flags: Readonly<Record<string, unknown>>;
    /** Left out: Linux. */
    readonly platform?: Platform;
  };
}

/** The first line of every file, and of every run that continues one. */
export interface RecordingHeader {
  readonly format: number;
  readonly version: string;
  readonly node: NodeIdentity;
  readonly dryRun: boolean;
  /** When this line was written, on both clocks. */
  readonly startedAt: string;
  readonly startedAtNs: bigint;
  readonly config: RecordedConfig;
}

/** The results of vetoes, by workload id; undefined: the workload may be evicted. */
export type Vetoes = ReadonlyMap<string, Protection | undefined>;

/** The candidates that a step asked for, or that were read for the recording only. */
export interface RecordedCandidates {
  readonly candidates: Omit<Candidates, 'veto' | 'managed'>;
  /** What is in managed units. Left out: not asked for. */
  readonly managed?: readonly WorkloadUsage[];
  readonly vetoes: Vetoes;
  /** Ids of workloads that would have been evicted, had no answer been outstanding. */
  readonly awaited: readonly string[];
}

/** A decision: its number in the run and the id of its victim (core/workload/process.ts). A replay is compared with it. */
export interface RecordedDecision {
  readonly serial: number;
  readonly victim: string;
}

export interface RecordedStep extends PolicyAnswers {
  readonly kind: 'step';
  /** `input.nowNs` by the wall clock, in milliseconds since 1970. Left out: the clock goes on as before. */
  readonly wallMs?: number;
  readonly wake: Wake;
  readonly input: Omit<StepInput, 'observe' | keyof StepAnswers>;
  readonly observations: Observations | undefined;
  readonly candidates: readonly RecordedCandidates[];
  /** The readings after the candidates. */
  readonly rechecks: readonly Observations[];
  /** Readings of what holds memory outside the workloads. */
  readonly outside: readonly (MemoryHoldings | undefined)[];
  readonly decisions: readonly RecordedDecision[];
}

/** An entry of a recording, in order of time. */
export type RecordingEntry =
  | { readonly kind: 'policy'; readonly policy: Policy }
  | { readonly kind: 'config'; readonly config: RecordedConfig }
  /** Replaces the state: this file continues another, or steps are missing before it. `lost`: how many. */
  | { readonly kind: 'state'; readonly state: State; readonly lost: number }
  | RecordedStep
  /** All candidates after the step before, though no eviction was due: for a replay with another configuration. */
  | ({ readonly kind: 'sample' } & RecordedCandidates)
  /** evictd was stopped, or continues in the next file. `lost`: steps that are missing in the run so far. */
  | { readonly kind: 'end'; readonly lost: number };
