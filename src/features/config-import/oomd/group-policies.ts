import { contains, isOne, isPlainGlob, scopeText, type CgroupPattern } from '../cgroup-pattern.js';
import type { MigratedPolicy, MigratedStep, Note } from '../migration.js';
import { HOUR_SECONDS, seconds } from '../values.js';
import type { DetectedCondition } from './detectors.js';
import { parseCondition } from '../../../core/condition/parse-condition.js';

/** A group of detectors, converted. */
export interface MigratedGroup {
  readonly notes: readonly Note[];
  readonly conditions: readonly DetectedCondition[];
  readonly isNever: boolean;
}

/** The actions of a ruleset, converted. */
export interface MigratedChain {
  readonly notes: readonly Note[];
  readonly steps: readonly MigratedStep[];
  /** What they may kill or freeze. */
  readonly targets: readonly CgroupPattern[];
  /** No workload source is configured for anything else. */
  readonly hasAllTargets: boolean;
  /** undefined: no action of oomd waits. */
  readonly delaySeconds: number | undefined;
  /** The cgroup of the ruleset. */
  readonly cgroup?: CgroupPattern;
  /** How much longer than for the first one its conditions must hold. */
  readonly laterSeconds: number;
}

/**
 * The policies that a group becomes: one for each cgroup that its ruleset may kill in. No scope is wider than that.
 * None: it is never met, has no condition that evictd can read, or its ruleset has no action.
 */
export function groupPolicies(title: string, { notes, conditions, isNever }: MigratedGroup, chain: MigratedChain): MigratedPolicy[] {
  if (isNever || chain.steps.length === 0) return [];
  const scopes = scopesOf(conditions, chain);
  return scopes.flatMap((scope, index) => {
    const parts = conditions.map((condition) => inScope(condition, scope));
    const when = parts.flatMap(({ when: text }) => text ?? []);
    if (when.length === 0) return [];
    const unless = parts.flatMap(({ unless: text }) => text ?? []);
    const isLost = parts.some((part) => part.isLost) || !isPlainGlob(scope);
    const longest = Math.min(HOUR_SECONDS, chain.laterSeconds + Math.max(...conditions.map(({ forSeconds }) => forSeconds ?? 0)));
    const all = chain.targets.length === 0 ? [] : severalText(scopes, scope);
    const texts = [...parts.flatMap(({ remark }) => remark ?? []), ...all, ...(endsWhole(chain) ? [WHOLE] : [])];
    const remarks = [...new Set(texts)].map((text) => noteOf(notes, chain, text));
    return {
      title,
      notes: [...(index === 0 ? notes : []), ...remarks, ...(isLost ? [noteOf(notes, chain, LOST)] : [])],
      ...(scope.length > 0 && isPlainGlob(scope) && { scope: scopeText(scope) ?? '/' }),
      when: when.join(' & '),
      ...(longest > 0 && { for: seconds(longest) }),
      ...(unless.length > 0 && { unless: unless.join(' | ') }),
      ...(chain.delaySeconds !== undefined && { cooldown: seconds(chain.delaySeconds) }),
      then: isLost ? ['notify'] : ladder(chain.steps),
    };
  });
}

const ANY_WORKLOAD =
  'the victim may be any workload that a source names. If you add a source: write a policy for each cgroup, with its `scope`';

const EACH_SCOPE = 'oomd compares what it may kill in several cgroups; evictd has a policy for each, and ends one workload at a time';

const EACH_MATCH =
  'oomd compares what it may kill in all cgroups of a pattern; evictd judges each of them by itself, and ends one workload at a time';

/** What is different where victims are in several cgroups. */
function severalText(scopes: readonly CgroupPattern[], scope: CgroupPattern): readonly string[] {
  if (scope.length === 0) return [ANY_WORKLOAD];
  return [...(scopes.length > 1 ? [EACH_SCOPE] : []), ...(isOne(scope) ? [] : [EACH_MATCH])];
}

const WHOLE = 'oomd kills a cgroup without /* as a whole; evictd ends one workload in it after the other while the condition holds';

/** Whether a target is a slice, which oomd kills as a whole. A unit ends as a whole in both programs. */
function endsWhole({ targets, steps }: MigratedChain): boolean {
  const [kill] = steps.flatMap((step) => (step !== 'notify' && 'kill' in step ? [step.kill] : []));
  return (
    kill !== undefined &&
    kill.recursive !== true &&
    targets.some((target) => isOne(target) && !/\.(service|scope)$/.test(target.at(-1) ?? ''))
  );
}

const LOST = 'a condition has no exact counterpart. The policy would act more often than oomd, so it has only the step `notify`';

function noteOf(notes: readonly Note[], chain: MigratedChain, text: string): Note {
  const first = notes[0] ?? chain.notes[0];
  return { setting: 'scope', position: first?.position ?? { file: 'oomd' }, text };
}

/**
 * The cgroups that the actions name, and those of a pattern within them that a detector judges, which no condition can name.
 * [[]]: the node.
 */
function scopesOf(
  conditions: readonly DetectedCondition[],
  { targets, cgroup = [], hasAllTargets }: MigratedChain,
): readonly CgroupPattern[] {
  const judged = unique(conditions.flatMap(({ cgroups }) => cgroups ?? [])).filter((pattern) => pattern.length > 0);
  // Nothing is killed: one policy, which names all of them.
  if (targets.length === 0) return judged.length === 0 ? [cgroup] : judged.every(isOne) ? [[]] : judged;
  const scopes = unique(
    targets.flatMap((target) => {
      const all = [scopeOf(target), ...judged.filter((pattern) => !isOne(pattern) && contains(target, pattern))];
      const exact = all.filter((scope) => isPlainGlob(scope) && !conditions.some((condition) => inScope(condition, scope).isLost));
      return exact.length > 0 ? exact : all.slice(0, 1);
    }),
  );
  return judged.length === 0 && scopes.length > 1 && hasAllTargets ? [[]] : scopes;
}

/** The cgroup in which a target is everything: its parent if it ends with `*`; else itself. */
function scopeOf(target: CgroupPattern): CgroupPattern {
  return target.at(-1) === '*' ? target.slice(0, -1) : target;
}

interface ConditionText {
  readonly when: string;
  readonly unless?: string;
}

interface Part {
  readonly when?: string;
  readonly unless?: string;
  readonly remark?: string;
  readonly isLost: boolean;
}

function inScope({ cgroups = [], when, unless, nearNode, isLost }: DetectedCondition, scope: CgroupPattern): Part {
  if (isLost === true) return { isLost: true };
  if (when === undefined) return { isLost: false };
  const isHere = cgroups.length === 0 || cgroups.some((pattern) => pattern.length === scope.length && contains(pattern, scope));
  const isNodes = cgroups.every((pattern) => pattern.length === 0);
  // Where a victim is in one of the cgroups, that one counts.
  const above = cgroups.filter((pattern) => pattern.length > 0 && contains(pattern, scope)).map(({ length }) => scope.slice(0, length));
  const named = unique(above.some(isOne) ? above.filter(isOne) : cgroups);
  const isNamed = !isHere && !isNodes && named.every((pattern) => pattern.length > 0 && isOne(pattern));
  const of = (prefix: string): ConditionText => ({ when: when(prefix), ...(unless && { unless: unless(prefix) }) });
  const text = isNamed ? anyOf(named.map((cgroup) => of(`cgroup(${scopeText(cgroup) ?? ''}).`))) : of(isHere ? '' : 'node.');
  const isMetric = isReadable(text.when, scope);
  if (isMetric && (isHere || isNodes || isNamed)) return { ...text, isLost: false };
  const judged = cgroups.map((pattern) => scopeText(pattern) ?? '/').join(', ');
  if (isNodes) return { isLost: true, remark: `a detector judges ${judged}: ${text.when} is not a condition of the node` };
  const remark = `a detector judges ${judged}, which is not the scope${cgroups.every(isOne) ? '' : ', and a condition cannot name a pattern'}`;
  if (!isMetric || nearNode !== true) return { isLost: true, remark };
  return { ...text, isLost: true, remark: `${remark}. Nearest: the same of the node` };
}

/** oomd takes the highest value of several cgroups: a limit is exceeded by one of them. */
function anyOf(texts: readonly ConditionText[]): ConditionText {
  const [first, ...others] = texts;
  if (first !== undefined && others.length === 0) return first;
  return { when: `(${texts.map(({ when, unless }) => when + (unless === undefined ? '' : ` & !${unless}`)).join(' | ')})` };
}

/** Whether a policy with this scope has the metrics of a condition. */
function isReadable(when: string, scope: CgroupPattern): boolean {
  const kind = scope.length === 0 || !isPlainGlob(scope) ? 'node' : 'cgroup';
  return 'condition' in parseCondition(when, { scope: kind, pressureWindowNs: 1n });
}

/** `kill` comes last. */
function ladder(steps: readonly MigratedStep[]): readonly MigratedStep[] {
  const isKill = (step: MigratedStep): boolean => step !== 'notify' && 'kill' in step;
  return [...steps.filter((step) => !isKill(step)), ...steps.filter(isKill)];
}

function unique(patterns: readonly CgroupPattern[]): CgroupPattern[] {
  return [...new Map(patterns.map((pattern) => [scopeText(pattern), pattern])).values()];
}
