import type { Condition } from '../../../core/policy/condition.js';
import { conditionNeeds } from '../../../core/policy/condition-needs.js';
import type { LadderStep, PolicyCgroups } from '../../../core/policy/configured-policy.js';
import { compileScope } from '../../../core/policy/scope-pattern.js';
import { withAncestors } from '../../../core/workload/cgroup.js';
import type { WorkloadSourceSpec } from '../../../workloads/kinds/source-spec.js';
import { STALLED_VALUE } from '../../../core/ladder/restraint-lift.js';
import { decidingValue } from '../../../core/ladder/victim-order.js';
import { PROGRAM_HINT } from '../hooks.js';
import type { Finding, LintRule } from '../lint-rule.js';
import type { MachineFacts } from '../machine.js';
import { overlap, scopeGlobs } from '../workloads/glob-overlap.js';
import { reachOf } from '../workloads/source-reach.js';

/** Patterns without a cgroup, and named cgroups that do not exist. */
export const policyScopesRule: LintRule = {
  codes: ['EVICTD_LINT_POLICY_SCOPE'],
  find: ({ policies }, machine) =>
    policies.flatMap(({ name, scope, when, unless }, index): Finding[] => {
      const absent = (part: string, cgroup: string, message: string, hint: string): Finding[] => {
        if (machine?.policies?.matches.get(cgroup) !== 0) return [];
        const key = `policies[${String(index)}].${part}`;
        return [{ level: 'warn', code: 'EVICTD_LINT_POLICY_SCOPE', message: `${key}: ${name} ${message}`, hint, key }];
      };
      const named = (part: string, condition: Condition | undefined): Finding[] =>
        [...conditionNeeds(condition === undefined ? [] : [condition]).named.keys()].flatMap((path) =>
          absent(part, path, `names a cgroup that does not exist now: ${path}`, 'compare it with systemd-cgls'),
        );
      const hint = 'compare it with systemd-cgls; ** stands for any number of names';
      const pattern = scope?.cgroup ?? '';
      const unmatched = absent('scope.cgroup', pattern, `watches nothing now: no cgroup matches ${pattern}`, hint);
      return [...unmatched, ...named('when', when), ...named('unless', unless)];
    }),
};

/** Steps that will fail, or have nothing to act on. */
export const policyStepsRule: LintRule = {
  codes: ['EVICTD_LINT_POLICY_STEP', 'EVICTD_LINT_POLICY_PROGRAM', 'EVICTD_LINT_POLICY_WORKLOADS', 'EVICTD_LINT_POLICY_ORDER'],
  find: ({ policies, workloads }, machine) =>
    policies.flatMap(({ name, scope, then }, index) => [
      ...withoutWorkloads(name, then, index, whyNoWorkload(scope, workloads, machine)),
      ...then.flatMap((step, at) => failingStep(name, step, `policies[${String(index)}].then[${String(at)}]`, machine)),
    ]),
};

export function actsOnWorkloads({ kind }: LadderStep): boolean {
  return kind !== 'notify' && kind !== 'run';
}

/** Why no workload can be in the scope; undefined: one can. */
function whyNoWorkload(
  scope: PolicyCgroups | undefined,
  workloads: readonly WorkloadSourceSpec[],
  machine: MachineFacts | undefined,
): string | undefined {
  if (workloads.length === 0) return 'no source is configured';
  if (scope?.paths !== undefined || scope === undefined) return undefined;
  const inScope = scopeGlobs(scope.cgroup);
  if (reachOf(workloads).paths.some((path) => inScope.some((glob) => overlap(path, glob)))) return undefined;
  const { matches } = compileScope(scope);
  const isPresent = machine?.workloads?.present.some(({ path }) => withAncestors(path).some(matches));
  return isPresent === true ? undefined : `no source has a workload in ${scope.cgroup}`;
}

function withoutWorkloads(name: string, steps: readonly LadderStep[], index: number, why: string | undefined): Finding[] {
  const acting = steps.find(actsOnWorkloads);
  if (why === undefined || acting === undefined) return [];
  const key = `policies[${String(index)}].then`;
  const message = `${key}: ${name}: ${acting.kind} has no workload to act on: ${why}`;
  const hint = 'name the workloads: workloads: [{ cgroup: /workload.slice }]';
  return [{ level: 'warn', code: 'EVICTD_LINT_POLICY_WORKLOADS', message, hint, key }];
}

function failingStep(name: string, step: LadderStep, key: string, machine: MachineFacts | undefined): Finding[] {
  const found = (code: string, why: string, hint: string): Finding[] => {
    const message = `${key}: ${name}: ${step.kind} fails here: ${why}`;
    return [{ level: 'warn', code, message, hint, key }];
  };
  if (step.kind === 'run') {
    const why = machine?.programs?.get(step.command[0] ?? '');
    return why === undefined ? [] : found('EVICTD_LINT_POLICY_PROGRAM', why, PROGRAM_HINT);
  }
  if (step.kind === 'stop' || step.kind === 'kill') return withoutEffect(name, step, key, machine);
  const needsV2 = step.kind === 'reclaim' || step.kind === 'throttle';
  const code = 'EVICTD_LINT_POLICY_STEP';
  if (needsV2 && machine?.policies?.cgroupVersion === 1)
    return found(code, 'the memory controller is that of cgroup v1', 'remove the step, or boot with cgroup v2');
  const unseen = step.kind === 'throttle' ? machine?.policies?.fixed.cgroup.get(STALLED_VALUE) : undefined;
  if (unseen === undefined) return [];
  const message = `${key}: ${name}: throttle is not lifted early from a workload that makes no progress: ${unseen.why}`;
  return [{ level: 'warn', code, message, hint: 'keep `for` short, or boot with psi=1', key }];
}

/** Comparators whose value is the same for every workload of this machine. */
function withoutEffect(
  name: string,
  { kind, by }: Extract<LadderStep, { kind: 'stop' | 'kill' }>,
  key: string,
  machine: MachineFacts | undefined,
): Finding[] {
  return by.flatMap((comparator): Finding[] => {
    const value = decidingValue(comparator);
    const fixed = value && machine?.policies?.fixed.cgroup.get(value);
    if (fixed === undefined) return [];
    const message = `${key}: ${name}: ${kind} by ${comparator} decides nothing here: ${fixed.why}`;
    return [
      { level: 'info', code: 'EVICTD_LINT_POLICY_ORDER', message, hint: 'the next comparator decides, or the order of evictions', key },
    ];
  });
}
