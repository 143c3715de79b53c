import { containerScope } from '../core/container-scope.js';
import { compileGlob } from '../core/glob.js';
import type { OperatingSystem } from '../core/operating-system.js';
import type { Rule } from '../core/rule.js';
import { unitNameOf } from '../core/unit.js';
import { compileWindowsGlob } from '../core/windows-path.js';
import type { WorkloadDirectory } from '../core/workload-directory.js';
import type { Workload } from '../core/workload.js';

/** What all rules together say about one workload. */
export interface RuleEffect {
  /** Never evicted. */
  readonly critical: boolean;
  /** It may be evicted though it is on the list of the protected. */
  readonly liftProtection: boolean;
  /** Higher is more important; undefined: no rule gives one, which counts as 0. */
  readonly priority: number | undefined;
  /** In bytes; undefined: no rule gives a request. */
  readonly requestsMemory: bigint | undefined;
  /** Undefined: no rule gives one. */
  readonly terminationGracePeriodNs: bigint | undefined;
  /** Of all that matched, each once. */
  readonly directories: readonly WorkloadDirectory[];
  /** Indexes of the rules that matched, in order: who is asked why can name them. */
  readonly matched: readonly number[];
}

/** What a rule is matched against. */
export interface Named {
  /** Path below the source's root. */
  readonly name: string;
  /** The full path. */
  readonly path: string;
  /** Left out: no container runtime has told of it, and it has none. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
}

type CompilePattern = (pattern: string) => { readonly test: (text: string) => boolean };

/** What patterns of names and paths mean on an operating system. */
export function patternsOf(os: OperatingSystem): CompilePattern {
  return os === 'windows' ? compileWindowsGlob : compileGlob;
}

/** What rules are matched against of a workload that is there. */
export function namedOf({ name, path, program, runtime }: Pick<Workload, 'name' | 'path' | 'program' | 'runtime'>): Named {
  return { name, path: program ?? path, labels: runtime?.labels };
}

const NO_RULE: RuleEffect = {
  critical: false,
  liftProtection: false,
  priority: undefined,
  requestsMemory: undefined,
  terminationGracePeriodNs: undefined,
  directories: [],
  matched: [],
};

/**
 * Compiles the globs once; the result is called for every workload in every pass.
 *
 * All matching rules apply in the order written, and the later wins key by key; `critical: false` after `critical: true` changes nothing,
 * so that a broad rule added at the end cannot expose what was protected. A rule with several of `name`, `path` and `labels` needs all of
 * them to match; one with none matches everything.
 *
 * @param compile  what a pattern means where these workloads live
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
    requestsMemory: rule.requestsMemory ?? effect.requestsMemory,
    terminationGracePeriodNs: rule.terminationGracePeriodNs ?? effect.terminationGracePeriodNs,
    directories: rule.directories ? [...effect.directories, ...rule.directories] : effect.directories,
    matched: [...effect.matched, index],
  };
}

/** A container of Docker's or Podman's has that of its cgroup beside its own: that is what it is called until its own is known. */
function namesOf({ name, path }: Named): readonly string[] {
  return containerScope(path) ? [name, unitNameOf(path.slice(path.lastIndexOf('/') + 1))] : [name];
}

function compileMatch({ name, path, labels = {} }: Rule['match'], compile: CompilePattern): (workload: Named) => boolean {
  const namePattern = name === undefined ? undefined : compile(name);
  const pathPattern = path === undefined ? undefined : compile(path);
  const labelPatterns = Object.entries(labels).map(([label, value]) => [label, compile(value)] as const);
  return (workload) =>
    (namePattern === undefined || namesOf(workload).some((own) => namePattern.test(own))) &&
    (pathPattern?.test(workload.path) ?? true) &&
    labelPatterns.every(([label, value]) => {
      const own = workload.labels;
      return own !== undefined && Object.hasOwn(own, label) && value.test(own[label] ?? '');
    });
}
