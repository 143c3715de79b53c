import { isBelow } from '../../../core/workload/cgroup.js';
import { isLiteral } from '../../../core/workload/glob.js';
import { isOfDesktop, protectedName } from '../../../core/systemd/protected-units.js';
import type { Rule } from '../../../core/workload/rule.js';
import { cgroupsOf } from '../../../workloads/kinds/source-spec.js';
import { namesOf } from './evictable.js';
import type { LintRule, Finding, LintSubject } from '../lint-rule.js';
import { globOf, overlap } from './glob-overlap.js';
import type { MachineFacts, PresentWorkload } from '../machine.js';
import { reachOf, type Reach } from './source-reach.js';
import { filesystemOf } from '../../../core/signal/signal.js';
import { operandsOf } from '../../../core/threshold/threshold.js';

/** Rules that match nothing or have no effect. Without a source no rule matches, which lintEvictable reports. */
export function lintRules({ rules, workloads }: LintSubject, machine: MachineFacts | undefined): Finding[] {
  if (workloads.length === 0) return [];
  const reach = reachOf(workloads);
  const roots = cgroupsOf(workloads).roots;
  const { present = [], sources = [] } = machine?.workloads ?? {};
  // The container that a rule means may be one of these.
  const isAnyUnnamed = sources.some(({ problems }) => problems.some(({ code }) => code === 'EVICTD_CONTAINER_NAME'));
  return rules.flatMap((rule, index): Finding[] => {
    const problem =
      (present.some(({ matched }) => matched.includes(index)) ? undefined : neverMatches(rule, reach, roots)) ??
      liftsNothing(rule, index, present) ??
      (isAnyUnnamed && rule.match.name !== undefined ? undefined : matchesNone(rule, index, present)) ??
      staysCritical(rules, index, present);
    if (problem === undefined) return [];
    const key = `rules[${String(index)}]`;
    return [{ level: 'warn', key, ...problem, message: `${key} (${matchText(rule)}) ${problem.message}` }];
  });
}

type Problem = Pick<Finding, 'code' | 'message' | 'hint'>;

/** No workload of the sources can have such a name, path or label. */
function neverMatches(rule: Rule, reach: Reach, roots: readonly string[]): Problem | undefined {
  const { name, path } = rule.match;
  if (protectsAbove(rule, roots)) return undefined;
  const code = 'EVICTD_LINT_RULE_UNREACHABLE';
  if (name !== undefined && !reach.names.some((known) => overlap(globOf(name), known))) {
    return { code, message: `can never match: ${reach.nameText}`, hint: reach.nameHint(name) };
  }
  if (path !== undefined && !reach.paths.some((known) => overlap(globOf(path), known))) {
    return { code, message: `can never match: its path matches ${reach.pathText}`, hint: reach.pathHint };
  }
  if (rule.match.labels !== undefined && !reach.hasLabels) {
    const message = 'can never match: only pods of a container runtime or a cluster have labels';
    return { code, message, hint: 'add workloads: [{cri: {endpoint: unix:///run/containerd/containerd.sock}}], or the key kubernetes' };
  }
  return undefined;
}

/** The name may be mistyped, so that the intended unit is still protected. */
function liftsNothing({ liftProtection, match: { name } }: Rule, index: number, present: readonly PresentWorkload[]): Problem | undefined {
  if (liftProtection !== true || name === undefined || protectedName(name) !== undefined) return undefined;
  if (present.some(({ path, matched }) => matched.includes(index) && isOfDesktop(path))) return undefined;
  return {
    code: 'EVICTD_LINT_LIFT_NOTHING',
    message: `lifts the protection of ${name}, which is not on the list of protected units`,
    hint: 'check the name (docs/systemd.md has the list); if it is right, remove critical: false and liftProtection',
  };
}

function matchesNone(rule: Rule, index: number, present: readonly PresentWorkload[]): Problem | undefined {
  const { path } = rule.match;
  if (present.length === 0 || present.some(({ matched }) => matched.includes(index))) return undefined;
  if (protectsAbove(rule, []) && present.some((workload) => path !== undefined && isBelow(path, workload.path))) return undefined;
  return {
    code: 'EVICTD_LINT_RULE_UNMATCHED',
    message: `matches no workload that exists now: ${namesOf(present)}`,
    hint: 'check the names in evictd rank; ignore this if the workload is not running now',
  };
}

/** `critical: false` for a workload that another rule makes critical, which is final. */
function staysCritical(rules: readonly Rule[], index: number, present: readonly PresentWorkload[]): Problem | undefined {
  if (rules[index]?.critical !== false) return undefined;
  const by = rules.findIndex(
    ({ critical }, other) => critical && present.some(({ matched }) => matched.includes(index) && matched.includes(other)),
  );
  if (by === -1) return undefined;
  const kept = present.filter(({ matched }) => matched.includes(index) && matched.includes(by));
  return {
    code: 'EVICTD_LINT_CRITICAL_STAYS',
    message: `has no effect on ${namesOf(kept)}: rules[${String(by)}] makes it critical, and critical: false does not undo that`,
    hint: `narrow rules[${String(by)}]`,
  };
}

/** A critical cgroup with a full path protects its ancestors, so the path may be below a workload. */
function protectsAbove({ critical, match: { path, name } }: Rule, roots: readonly string[]): boolean {
  if (!critical || path === undefined || name !== undefined || !isLiteral(path)) return false;
  return roots.length === 0 || roots.some((root) => isBelow(path, root));
}

function matchText({ match: { name, path, labels = {} } }: Rule): string {
  const named = [name === undefined ? '' : `name: ${name}`, path === undefined ? '' : `path: ${path}`].filter((part) => part !== '');
  const parts = [...named, ...Object.entries(labels).map(([label, value]) => `label ${label}: ${value}`)];
  return parts.length === 0 ? 'everything' : parts.join(', ');
}

export const rulesRule: LintRule = {
  codes: ['EVICTD_LINT_RULE_UNREACHABLE', 'EVICTD_LINT_RULE_UNMATCHED', 'EVICTD_LINT_LIFT_NOTHING', 'EVICTD_LINT_CRITICAL_STAYS'],
  find: lintRules,
};

/** An imagefs that the container runtime reports, that is not configured and has no threshold. */
export function lintImages({ thresholds, filesystems }: LintSubject, machine: MachineFacts | undefined): Finding[] {
  const isApart = machine?.layout === 'imagefs' || machine?.layout === 'split';
  if (!isApart || filesystems.imagefs !== undefined || filesystems.containerfs !== undefined) return [];
  if (thresholds.flatMap(operandsOf).some(({ signal }) => filesystemOf(signal) === 'imagefs')) return [];
  return [
    {
      level: 'warn',
      code: 'EVICTD_IMAGEFS_UNWATCHED',
      message: 'the images of the container runtime are not on nodefs, and imagefs has no threshold: evictd does nothing when it is full',
      hint: 'set imagefs.available and imagefs.inodesFree, or set filesystems.imagefs, which adds their defaults',
      key: 'evictionHard',
    },
  ];
}

export const imagesRule: LintRule = {
  codes: ['EVICTD_IMAGEFS_UNWATCHED'],
  find: lintImages,
};
