import { taintText, type Taint } from '../../core/disruption/taint.js';
import { toleratesTaint, type Toleration } from '../../core/disruption/toleration.js';
import type { Rule } from '../../core/workload/rule.js';
import type { Finding, LintRule, LintSubject } from './lint-rule.js';
import type { MachineFacts, PresentWorkload } from './machine.js';
import { matchesEvery } from './workloads/glob-overlap.js';

/** Taints that keep no workload off the node, or all. */
export function lintTaints({ taints, rules, workloads }: LintSubject, machine: MachineFacts | undefined): Finding[] {
  if (workloads.length === 0) return [];
  return taints.flatMap((taint, index): Finding[] => {
    const key = `taints[${String(index)}]`;
    // Of the rules that match a workload the first toleration counts.
    const tolerating = rules.flatMap((rule, at): Tolerating[] => {
      const [first] = tolerations(rule, taint);
      return first === undefined ? [] : [{ at, isForEver: first.tolerationSeconds === undefined, forAll: matchesEvery(rule.match) }];
    });
    const forAll = tolerating.findIndex(({ forAll }) => forAll);
    const isTolerated = forAll !== -1 && tolerating.slice(0, forAll + 1).every(({ isForEver }) => isForEver);
    const why = isTolerated ? `rules[${String(tolerating[forAll]?.at)}] tolerates it for every workload` : allPresent(tolerating, machine);
    if (why !== undefined) {
      const message = `${taintText(taint)} has no effect: ${why}`;
      return [{ level: 'warn', code: 'EVICTD_LINT_TAINT_TOLERATED', message, hint: 'remove the taint, or the toleration', key }];
    }
    if (taint.effect !== 'NoExecute' || tolerating.length > 0) return [];
    const message = `${taintText(taint)} evicts every workload that is not protected: no rule tolerates it`;
    const hint = 'add tolerations to the rules of workloads that may run here, or use NoSchedule';
    return [{ level: 'warn', code: 'EVICTD_LINT_TAINT_EVICTS_ALL', message, hint, key }];
  });
}

function tolerations({ tolerations: given = [] }: Rule, taint: Taint): readonly Toleration[] {
  return given.filter((toleration) => toleratesTaint(toleration, taint));
}

/** A rule, and its first toleration of a taint. */
interface Tolerating {
  readonly at: number;
  readonly isForEver: boolean;
  readonly forAll: boolean;
}

/** undefined: some workload does not tolerate it for ever, or there is none now. */
function allPresent(tolerating: readonly Tolerating[], machine: MachineFacts | undefined): string | undefined {
  const present: readonly PresentWorkload[] = machine?.workloads?.present ?? [];
  const isTolerated = ({ matched }: PresentWorkload): boolean => tolerating.find(({ at }) => matched.includes(at))?.isForEver === true;
  if (present.length === 0 || !present.every(isTolerated)) return undefined;
  return `every workload that exists now (${String(present.length)}) tolerates it`;
}

export const taintsRule: LintRule = { codes: ['EVICTD_LINT_TAINT_TOLERATED', 'EVICTD_LINT_TAINT_EVICTS_ALL'], find: lintTaints };
