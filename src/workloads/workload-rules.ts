import type { PreemptionPolicy } from '../core/disruption/priority-class.js';
import { compileGlob } from '../core/workload/glob.js';
import { compileMatch, type CompilePattern, type Named, type Rule } from '../core/workload/rule.js';
import type { Toleration } from '../core/disruption/toleration.js';
import type { Workload } from '../core/workload/workload.js';
import type { WorkloadDirectory } from '../core/workload/workload-directory.js';

/** The combined effect of all rules on one workload. */
export interface RuleEffect {
  readonly critical: boolean;
  /** Lifts the protection by the list of units. */
  readonly liftProtection: boolean;
  /** Higher is more important; undefined: no rule sets it, which counts as 0. */
  readonly priority: number | undefined;
  /** The preemption policy of the rule that sets the priority. */
  readonly preemptionPolicy: PreemptionPolicy;
  /** The request in bytes; undefined: no rule sets it. */
  readonly requestsMemory: bigint | undefined;
  /** undefined: no rule sets it. */
  readonly terminationGracePeriodNs: bigint | undefined;
  /** The directories of all matching rules. */
  readonly directories: readonly WorkloadDirectory[];
  readonly tolerations: readonly Toleration[];
  /** Indexes of the matching rules, in order. */
  readonly matched: readonly number[];
}

/** The tolerations of the rules, then those of the pod. @param own  those of the pod */
export function tolerationsPart(effect: RuleEffect, own: readonly Toleration[] = []): Pick<Workload, 'tolerations'> {
  const tolerations = [...effect.tolerations, ...own];
  return tolerations.length > 0 ? { tolerations } : {};
}

const NO_RULE: RuleEffect = {
  critical: false,
  liftProtection: false,
  priority: undefined,
  preemptionPolicy: 'PreemptLowerPriority',
  requestsMemory: undefined,
  terminationGracePeriodNs: undefined,
  directories: [],
  tolerations: [],
  matched: [],
};

/**
 * Compiles the patterns once; the result is called for every workload in every pass.
 *
 * All matching rules apply in written order; for each key the last one wins. `critical: false` does not undo `critical:
 * true`, so a broad rule at the end cannot expose protected workloads. `name`, `path` and `labels` must all match; a
 * rule without them matches everything.
 *
 * @param compile  the meaning of a pattern
 */
export function compileRules(rules: readonly Rule[], compile: CompilePattern = compileGlob): (workload: Named) => RuleEffect {
  const compiled = rules.map((rule, index) => ({ rule, index, matches: compileMatch(rule.match, compile) }));
  return (workload) =>
    compiled.reduce((effect, { rule, index, matches }) => (matches(workload) ? combine(effect, rule, index) : effect), NO_RULE);
}

/** Whether a rule by name may match a workload at the path that has no labels, whatever its name is; undefined: there is no such rule. */
export function matchingNames(rules: readonly Rule[]): ((path: string) => boolean) | undefined {
  const byName = rules.filter(({ match }) => match.name !== undefined);
  if (byName.length === 0) return undefined;
  const compiled = byName.map(({ match: { name: _name, ...others } }) => compileMatch(others, compileGlob));
  return (path) => compiled.some((matches) => matches({ name: '', path }));
}

function combine(effect: RuleEffect, rule: Rule, index: number): RuleEffect {
  return {
    critical: effect.critical || (rule.critical ?? false),
    liftProtection: effect.liftProtection || (rule.liftProtection ?? false),
    priority: rule.priority ?? effect.priority,
    preemptionPolicy: rule.priority === undefined ? effect.preemptionPolicy : (rule.preemptionPolicy ?? NO_RULE.preemptionPolicy),
    requestsMemory: rule.requestsMemory ?? effect.requestsMemory,
    terminationGracePeriodNs: rule.terminationGracePeriodNs ?? effect.terminationGracePeriodNs,
    directories: rule.directories ? [...effect.directories, ...rule.directories] : effect.directories,
    tolerations: rule.tolerations ? [...effect.tolerations, ...rule.tolerations] : effect.tolerations,
    matched: [...effect.matched, index],
  };
}
