import { isBelow, normalCgroupPath } from '../core/cgroup.js';
import type { Rule } from '../core/rule.js';
import { namesOf } from './evictable.js';
import type { Finding } from './finding.js';
import { isLiteral, matchesSomeName } from './glob.js';
import type { MachineFacts, PresentWorkload } from './machine.js';
import type { LintSubject } from './subject.js';

/** Rules that match nothing, now or ever, and those that would take back what cannot be taken back. Without a source no rule has anything to match, which is said elsewhere. */
export function lintRules({ rules, workloads }: LintSubject, machine: MachineFacts | undefined): Finding[] {
  if (workloads.length === 0) return [];
  const roots = workloads.map(({ cgroup }) => normalCgroupPath(cgroup));
  const present = machine?.workloads?.present ?? [];
  return rules.flatMap((rule, index): Finding[] => {
    const said = neverMatches(rule, roots) ?? matchesNobody(rule, index, present) ?? staysCritical(rules, index, present);
    if (said === undefined) return [];
    const key = `rules[${String(index)}]`;
    return [{ level: 'warn', key, ...said, message: `${key} (${matchText(rule)}) ${said.message}` }];
  });
}

type Said = Pick<Finding, 'code' | 'message' | 'hint'>;

/** A workload is a direct child of its source, and its name is that of the cgroup. */
function neverMatches(rule: Rule, roots: readonly string[]): Said | undefined {
  const { name, path } = rule.match;
  if (protectsAbove(rule, roots)) return undefined;
  const code = 'EVICTD_LINT_RULE_UNREACHABLE';
  if (name !== undefined && !matchesSomeName(name, '')) {
    const message = "can never match: a workload's name is that of a direct child of its source, without a /";
    return { code, message, hint: 'leave the directories out of name, or match by path' };
  }
  if (path !== undefined && !roots.some((root) => matchesSomeName(path, root === '/' ? '/' : `${root}/`))) {
    const message = `can never match: it reaches no direct child of ${roots.join(', ')}`;
    return { code, message, hint: `a workload's path is that of its source and its name: ${roots[0] ?? ''}/NAME` };
  }
  return undefined;
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

function matchText({ match: { name, path } }: Rule): string {
  const parts = [name === undefined ? '' : `name: ${name}`, path === undefined ? '' : `path: ${path}`].filter((part) => part !== '');
  return parts.length === 0 ? 'everything' : parts.join(', ');
}
