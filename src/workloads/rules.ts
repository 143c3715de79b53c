import type { Rule } from '../core/rule.js';

/** What all rules together say about one workload. */
export interface RuleEffect {
  /** Never evicted. */
  readonly critical: boolean;
  /** Higher is more important. */
  readonly priority: number;
  /** In bytes; undefined: no rule gives a request. */
  readonly requestsMemory: bigint | undefined;
  /** Undefined: no rule gives one. */
  readonly terminationGracePeriodNs: bigint | undefined;
  /** Indexes of the rules that matched, in order: who is asked why can name them. */
  readonly matched: readonly number[];
}

/** What a rule is matched against. */
export interface Named {
  /** Path below the source's root. */
  readonly name: string;
  /** The full path. */
  readonly path: string;
}

const NO_RULE: RuleEffect = { critical: false, priority: 0, requestsMemory: undefined, terminationGracePeriodNs: undefined, matched: [] };

/**
 * Compiles the globs once; the result is called for every workload in every pass.
 *
 * All matching rules apply in the order written, and the later wins key by key; `critical: false` after `critical: true` changes nothing,
 * so that a broad rule added at the end cannot expose what was protected. A rule with both `name` and `path` needs both to match; one
 * with neither matches everything.
 */
export function compileRules(rules: readonly Rule[]): (workload: Named) => RuleEffect {
  const compiled = rules.map((rule, index) => ({ rule, index, matches: compileMatch(rule.match) }));
  return (workload) =>
    compiled.reduce((effect, { rule, index, matches }) => (matches(workload) ? combine(effect, rule, index) : effect), NO_RULE);
}

function combine(effect: RuleEffect, rule: Rule, index: number): RuleEffect {
  return {
    critical: effect.critical || (rule.critical ?? false),
    priority: rule.priority ?? effect.priority,
    requestsMemory: rule.requestsMemory ?? effect.requestsMemory,
    terminationGracePeriodNs: rule.terminationGracePeriodNs ?? effect.terminationGracePeriodNs,
    matched: [...effect.matched, index],
  };
}

function compileMatch({ name, path }: Rule['match']): (workload: Named) => boolean {
  const namePattern = name === undefined ? undefined : compileGlob(name);
  const pathPattern = path === undefined ? undefined : compileGlob(path);
  return (workload) => (namePattern?.test(workload.name) ?? true) && (pathPattern?.test(workload.path) ?? true);
}

/**
 * `*` is any run of characters except `/`, `**` any run, `?` one character except `/`; everything else stands for itself, and the whole
 * text must match. So `batch-*` does not reach into `batch-a/worker`, and `batch-**` does.
 */
function compileGlob(glob: string): RegExp {
  const source = glob.replace(/\*{2,}|[*?]|[\\^$.|+()[\]{}]/g, (token) => {
    if (token === '*') return '[^/]*';
    if (token === '?') return '[^/]';
    return token.startsWith('**') ? '.*' : `\\${token}`;
  });
  return new RegExp(`^${source}$`, 'su'); // s: a cgroup's name may hold a newline; u: `?` is a character, not half of one
}
