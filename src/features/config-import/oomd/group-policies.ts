import { isOne, isPlainGlob, overlap, scopeText, type CgroupPattern } from '../cgroup-pattern.js';
import type { MigratedPolicy, MigratedStep, Note } from '../migration.js';
import { HOUR_SECONDS, seconds } from '../values.js';
import type { DetectedCondition } from './detectors.js';
import { parseCondition } from '../../../core/condition/parse-condition.js';
import { namesIn } from '../../../core/workload/cgroup.js';

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
  /** What they may kill. */
  readonly targets: readonly CgroupPattern[];
  readonly delaySeconds: number;
  /** Of the ruleset. */
  readonly cgroup?: string;
  /** How much longer than for the first one its conditions must hold. */
  readonly laterSeconds: number;
}

/**
 * The policies that a group becomes: one for each cgroup that its detectors judge and that contains something to kill.
 * None: it is never met, has no condition that evictd can read, or its ruleset has no action.
 */
export function groupPolicies(title: string, { notes, conditions, isNever }: MigratedGroup, chain: MigratedChain): MigratedPolicy[] {
  if (isNever || chain.steps.length === 0) return [];
  return scopesOf(conditions, chain).flatMap((scope, index) => {
    const parts = conditions.map((condition) => inScope(condition, scope));
    const when = parts.flatMap(({ when: text }) => text ?? []);
    if (when.length === 0) return [];
    const unless = parts.flatMap(({ unless: text }) => text ?? []);
    const isLost = parts.some((part) => part.isLost) || !isPlainGlob(scope);
    const longest = Math.min(HOUR_SECONDS, chain.laterSeconds + Math.max(...conditions.map(({ forSeconds }) => forSeconds ?? 0)));
    const isWide = scope.length === 0 && parentsOf(chain.targets).length > 1;
    const texts = [...parts.flatMap(({ remark }) => remark ?? []), ...(isWide ? [ANY_WORKLOAD] : []), ...(endsWhole(chain) ? [WHOLE] : [])];
    const remarks = [...new Set(texts)].map((text) => noteOf(notes, chain, text));
    return {
      title,
      notes: [...(index === 0 ? notes : []), ...remarks, ...(isLost ? [noteOf(notes, chain, LOST)] : [])],
      ...(scope.length > 0 && isPlainGlob(scope) && { scope: scopeText(scope) ?? '/' }),
      when: when.join(' & '),
      ...(longest > 0 && { for: seconds(longest) }),
      ...(unless.length > 0 && { unless: unless.join(' | ') }),
      ...(chain.delaySeconds > 0 && { cooldown: seconds(chain.delaySeconds) }),
      then: isLost ? ['notify'] : ladder(chain.steps),
    };
  });
}

const ANY_WORKLOAD = 'the victim may be any workload that a source names. To restrict it: a policy for each parent, with its `scope`';

const WHOLE = 'oomd kills a cgroup without /* as a whole; evictd ends one workload in it after the other while the condition holds';

/** Of slices: a unit ends as a whole in both. */
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

/** The cgroups that the detectors judge, as far as they contain a target; else those above the targets; the node: []. */
function scopesOf(conditions: readonly DetectedCondition[], { targets, cgroup }: MigratedChain): readonly CgroupPattern[] {
  const judged = unique(conditions.flatMap(({ cgroups }) => cgroups ?? [])).filter((pattern) => pattern.length > 0);
  const [parent = [], ...others] = parentsOf(targets);
  if (judged.length === 0) return [cgroup === undefined ? (others.length === 0 ? parent : []) : namesIn(cgroup)];
  const containing = judged.filter((pattern) => targets.length === 0 || targets.some((target) => overlap(pattern, target)));
  return containing.length > 0 ? containing : parentsOf(targets);
}

function parentsOf(targets: readonly CgroupPattern[]): readonly CgroupPattern[] {
  return unique(targets.map((target) => (isOne(target) ? target : target.slice(0, -1))));
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
  const isHere = cgroups.length === 0 || cgroups.some((pattern) => scopeText(pattern) === scopeText(scope));
  const isNodes = cgroups.every((pattern) => pattern.length === 0);
  const [named] = cgroups.length === 1 && cgroups.every(isOne) ? cgroups : [];
  const isNamed = !isHere && !isNodes && named !== undefined;
  const prefix = isHere ? '' : isNamed ? `cgroup(${scopeText(named) ?? ''}).` : 'node.';
  const text = { when: when(prefix), ...(unless && { unless: unless(prefix) }) };
  const isMetric = isReadable(text.when, scope);
  if (isMetric && (isHere || isNodes || isNamed)) return { ...text, isLost: false };
  const judged = cgroups.map((pattern) => scopeText(pattern) ?? '/').join(', ');
  if (isNodes) return { isLost: true, remark: `a detector judges ${judged}: ${text.when} is no condition of the node` };
  const remark = `a detector judges ${judged}, which is not the scope`;
  if (!isMetric || nearNode !== true) return { isLost: true, remark };
  return { ...text, isLost: true, remark: `${remark}. Nearest: the same of the node` };
}

/** Whether a policy with this scope has the metrics of a condition. */
function isReadable(when: string, scope: CgroupPattern): boolean {
  return 'condition' in parseCondition(when, { scope: scope.length === 0 ? 'node' : 'cgroup', pressureWindowNs: 1n });
}

/** `kill` comes last. */
function ladder(steps: readonly MigratedStep[]): readonly MigratedStep[] {
  const isKill = (step: MigratedStep): boolean => step !== 'notify' && 'kill' in step;
  return [...steps.filter((step) => !isKill(step)), ...steps.filter(isKill)];
}

function unique(patterns: readonly CgroupPattern[]): CgroupPattern[] {
  return [...new Map(patterns.map((pattern) => [scopeText(pattern), pattern])).values()];
}
