import { containerScope } from '../core/workload/container-scope.js';
import type { PreemptionPolicy } from '../core/disruption/priority-class.js';
import { compileGlob } from '../core/workload/glob.js';
import type { OperatingSystem } from '../core/signal/operating-system.js';
import type { Rule } from '../core/workload/rule.js';
import type { Toleration } from '../core/disruption/toleration.js';
import { unitNameOf } from '../core/systemd/unit.js';
import { compileWindowsGlob } from '../core/windows/windows-path.js';
import type { WorkloadDirectory } from '../core/workload/workload-directory.js';
import type { Workload } from '../core/workload/workload.js';
import { printable } from '../core/name/printable.js';

/** The combined effect of all rules on one workload. */
export interface RuleEffect {
  readonly critical: boolean;
  /** Lifts the protection by the list of units. */
  readonly liftProtection: boolean;
  /** Higher is more important; undefined: no rule sets it, which counts as 0. */
  readonly priority: number | undefined;
  /** Of the rule that sets the priority. */
  readonly preemptionPolicy: PreemptionPolicy;
  /** In bytes; undefined: no rule sets it. */
  readonly requestsMemory: bigint | undefined;
  /** undefined: no rule sets it. */
  readonly terminationGracePeriodNs: bigint | undefined;
  /** Of all matching rules. */
  readonly directories: readonly WorkloadDirectory[];
  readonly tolerations: readonly Toleration[];
  /** Indexes of the matching rules, in order. */
  readonly matched: readonly number[];
}

/** Of a workload. */
export function tolerationsPart({ tolerations }: RuleEffect): Pick<Workload, 'tolerations'> {
  return tolerations.length > 0 ? { tolerations } : {};
}

/** The properties that rules match. */
export interface Named {
  readonly name: string;
  readonly path: string;
  /** Left out: none reported by a container runtime. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
}

type CompilePattern = (pattern: string) => { readonly test: (text: string) => boolean };

/** The meaning of patterns on an operating system. */
export function patternsOf(os: OperatingSystem): CompilePattern {
  return os === 'windows' ? compileWindowsGlob : compileGlob;
}

export function namedOf({ name, path, program, runtime }: Pick<Workload, 'name' | 'path' | 'program' | 'runtime'>): Named {
  return { name, path: program ?? path, labels: runtime?.labels };
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

/** A container also matches by the name of its cgroup, which is its only name until its own is known. */
function namesOf({ name, path }: Named): readonly string[] {
  return containerScope(path) ? [name, unitNameOf(path.slice(path.lastIndexOf('/') + 1))] : [name];
}

/** A name also matches as it is shown: a configuration cannot hold bytes that are no UTF-8. */
function matches(pattern: ReturnType<CompilePattern>, name: string): boolean {
  return pattern.test(name) || pattern.test(printable(name));
}

function compileMatch({ name, path, labels = {} }: Rule['match'], compile: CompilePattern): (workload: Named) => boolean {
  const namePattern = name === undefined ? undefined : compile(name);
  const pathPattern = path === undefined ? undefined : compile(path);
  const labelPatterns = Object.entries(labels).map(([label, value]) => [label, compile(value)] as const);
  return (workload) =>
    (namePattern === undefined || namesOf(workload).some((own) => matches(namePattern, own))) &&
    (pathPattern === undefined || matches(pathPattern, workload.path)) &&
    labelPatterns.every(([label, value]) => {
      const own = workload.labels;
      return own !== undefined && Object.hasOwn(own, label) && value.test(own[label] ?? '');
    });
}
