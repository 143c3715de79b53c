import type { EvictionBudget } from '../../core/budget/eviction-budget.js';
import type { Taint } from '../../core/disruption/taint.js';
import type { Departures } from '../../core/decide/departures.js';
import type { DisruptionBudget } from '../../core/disruption/disruption-budget.js';
import type { HooksConfig } from '../../core/hook/hook.js';
import type { FilesystemPaths } from '../../core/signal/layout.js';
import type { ConfiguredPolicy } from '../../core/policy/configured-policy.js';
import type { Rule } from '../../core/workload/rule.js';
import type { ShutdownConfig } from '../../core/workload/shutdown-config.js';
import type { Signal } from '../../core/signal/signal.js';
import type { Threshold } from '../../core/threshold/threshold.js';
import type { WorkloadSourceSpec } from '../../workloads/kinds/source-spec.js';
import type { MachineFacts } from './machine.js';

export interface Finding {
  /**
   * `error`: evictd does not do its job with this configuration here; `warn`: it does it worse; `info`: may be intended.
   * The doctor's `broken`, `degraded` and `ok`.
   */
  readonly level: 'error' | 'warn' | 'info';
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
  /** The key that it concerns: 'evictionSoft.memory.available', 'rules[2]'. */
  readonly key: string;
  /** The index of the test of the condition at `key`, in the order of testsOf. Left out: the whole value is meant. */
  readonly test?: number;
  /** The signal that cannot be read, or is only polled. */
  readonly signal?: Signal;
}

/** The codes of findings with which evictd never evicts anything. */
export const EVICTS_NOTHING: ReadonlySet<string> = new Set([
  'EVICTD_LINT_NO_THRESHOLD',
  'EVICTD_WORKLOADS_NONE',
  'EVICTD_LINT_ALL_CRITICAL',
  'EVICTD_LINT_NOTHING_EVICTABLE',
  'EVICTD_LINT_BUDGET_NONE',
]);

/** The parts of a configuration that lint reads. */
export interface LintSubject {
  readonly departures: Departures;
  readonly thresholds: readonly Threshold[];
  readonly evictionBudget: EvictionBudget;
  readonly pressureTransitionPeriodNs: bigint;
  readonly maxPodGracePeriodNs: bigint;
  readonly monitoringIntervalNs: bigint;
  readonly maxPauseNs: bigint;
  readonly workloads: readonly WorkloadSourceSpec[];
  readonly rules: readonly Rule[];
  readonly taints: readonly Taint[];
  readonly disruptionBudgets: readonly DisruptionBudget[];
  readonly policies: readonly ConfiguredPolicy[];
  readonly shutdown: ShutdownConfig;
  readonly hooks: HooksConfig;
  /** 0: no standing orders. */
  readonly standingOrderAfterNs: bigint;
  readonly filesystems: FilesystemPaths;
  readonly allocatable: { readonly cgroup: string; readonly capacity: bigint | undefined } | undefined;
  /** The keys that are set, with the value as text: 'evictionMinimumReclaim.memory.available' → '200Mi'. */
  readonly written: ReadonlyMap<string, unknown>;
}

/** A kind of finding. To add one, define it in a file of its own and add it to LINT_RULES (and to docs/lint.md). */
export interface LintRule {
  readonly codes: readonly string[];
  /** @param machine  undefined: only findings that hold on every machine */
  readonly find: (subject: LintSubject, machine: MachineFacts | undefined) => readonly Finding[];
}
