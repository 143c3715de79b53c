import { isBelow } from '../core/cgroup.js';
import { isLiteral } from '../core/glob.js';
import { protectedName } from '../core/protected-units.js';
import type { Rule } from '../core/rule.js';
import { sourceRoots } from '../core/workload-source.js';
import { namesOf } from './evictable.js';
import type { Finding } from './finding.js';
import { globOf, overlap } from './glob.js';
import type { MachineFacts, PresentWorkload } from './machine.js';
import { reachOf, type Reach } from './source-reach.js';
import type { LintSubject } from './subject.js';

/** Rules that match nothing, now or ever, and those that would take back what cannot be taken back. Without a source no rule has anything to match, which is said elsewhere. */
export function lintRules({ rules, workloads }: LintSubject, machine: MachineFacts | undefined): Finding[] {
  if (workloads.length === 0) return [];
  const reach = reachOf(workloads);
  const roots = sourceRoots(workloads);
  const present = machine?.workloads?.present ?? [];
  return rules.flatMap((rule, index): Finding[] => {
    const said =
      (present.some(({ matched }) => matched.includes(index)) ? undefined : neverMatches(rule, reach, roots)) ??
      liftsNothing(rule) ??
      matchesNobody(rule, index, present) ??
      staysCritical(rules, index, present);
    if (said === undefined) return [];
    const key = `rules[${String(index)}]`;
    return [{ level: 'warn', key, ...said, message: `${key} (${matchText(rule)}) ${said.message}` }];
  });
}

type Said = Pick<Finding, 'code' | 'message' | 'hint'>;

/** No workload that there could be has such a name, or such a path. */
function neverMatches(rule: Rule, reach: Reach, roots: readonly string[]): Said | undefined {
  const { name, path } = rule.match;
  if (protectsAbove(rule, roots)) return undefined;
  const code = 'EVICTD_LINT_RULE_UNREACHABLE';
  if (name !== undefined && !reach.names.some((known) => overlap(globOf(name), known))) {
    return { code, message: `can never match: ${reach.nameText}`, hint: reach.nameHint(name) };
  }
  if (path !== undefined && !reach.paths.some((known) => overlap(globOf(path), known))) {
    return { code, message: `can never match: it reaches ${reach.pathText}`, hint: reach.pathHint };
  }
  if (rule.match.labels !== undefined && !reach.hasLabels) {
    const message = 'can never match: only pods of a container runtime have labels';
    return { code, message, hint: 'name one: workloads: [{cri: {endpoint: unix:///run/containerd/containerd.sock}}]' };
  }
  return undefined;
}

/** Nothing is lost by it, but the name may be mistyped: then what was meant is still protected. */
function liftsNothing({ liftProtection, match: { name } }: Rule): Said | undefined {
  if (liftProtection !== true || name === undefined || protectedName(name) !== undefined) return undefined;
  return {
    code: 'EVICTD_LINT_LIFT_NOTHING',
    message: `lifts the protection of ${name}, which is not on the list of protected units`,
    hint: 'the list is in docs/systemd.md; remove critical: false and liftProtection where the name is right',
  };
}

function matchesNobody(rule: Rule, index: number, present: readonly PresentWorkload[]): Said | undefined {
  const { path } = rule.match;
  if (present.length === 0 || present.some(({ matched }) => matched.includes(index))) return undefined;
  if (protectsAbove(rule, []) && present.some((workload) => path !== undefined && isBelow(path, workload.path))) return undefined;
  return {
    code: 'EVICTD_LINT_RULE_UNMATCHED',
    message: `matches no workload that is there now: ${namesOf(present)}`,
    hint: 'a name that changed? evictd rank lists them; nothing is wrong where its workload is not running now',
  };
}

/** `critical: false` where a rule has said true: evictd never takes that back. */
function staysCritical(rules: readonly Rule[], index: number, present: readonly PresentWorkload[]): Said | undefined {
  if (rules[index]?.critical !== false) return undefined;
  const by = rules.findIndex(
    ({ critical }, other) => critical && present.some(({ matched }) => matched.includes(index) && matched.includes(other)),
  );
  if (by === -1) return undefined;
  const kept = present.filter(({ matched }) => matched.includes(index) && matched.includes(by));
  return {
    code: 'EVICTD_LINT_CRITICAL_STAYS',
    message: `says critical: false for ${namesOf(kept)}, which rules[${String(by)}] makes critical: that is never taken back`,
    hint: `narrow rules[${String(by)}]`,
  };
}

/** A critical cgroup named by its full path protects what contains it: the path may lie below a workload. */
function protectsAbove({ critical, match: { path, name } }: Rule, roots: readonly string[]): boolean {
  if (!critical || path === undefined || name !== undefined || !isLiteral(path)) return false;
  return roots.length === 0 || roots.some((root) => isBelow(path, root));
}

function matchText({ match: { name, path, labels = {} } }: Rule): string {
  const named = [name === undefined ? '' : `name: ${name}`, path === undefined ? '' : `path: ${path}`].filter((part) => part !== '');
  const parts = [...named, ...Object.entries(labels).map(([label, value]) => `label ${label}: ${value}`)];
  return parts.length === 0 ? 'everything' : parts.join(', ');
}
