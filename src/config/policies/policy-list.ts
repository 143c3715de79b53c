import { contradiction, sameCondition } from '../../core/condition/condition-logic.js';
import { parseCondition } from '../../core/condition/parse-condition.js';
import type { Compatibility } from '../../core/decide/departures.js';
import type { Condition } from '../../core/policy/condition.js';
import { testsOf, type Test } from '../../core/policy/condition-needs.js';
import type { ConfiguredPolicy } from '../../core/policy/configured-policy.js';
import type { ListItem } from '../value/document.js';
import { keyText, type KeyPath, type Report } from '../value/report.js';
import type { SourcePosition } from '../../errors.js';
import type { PolicyEntry } from './policy-entry.js';

export const CONDITION_KEYS = ['when', 'unless'] as const;
type ConditionKey = (typeof CONDITION_KEYS)[number];

/** A policy and where it stands. */
export interface PlacedPolicy {
  readonly policy: ConfiguredPolicy;
  readonly item: ListItem<PolicyEntry>;
  /** Where each test of a condition begins, in the order of testsOf. */
  readonly tests: Readonly<Record<ConditionKey, readonly SourcePosition[]>>;
}

/**
 * The policies, in the order of the files. Reports policies of one name, and those that contradict themselves or each
 * other.
 */
export function configuredPolicies(
  items: readonly ListItem<PolicyEntry>[],
  compatibility: Compatibility,
  pressureWindowNs: bigint,
  report: Report,
): readonly PlacedPolicy[] {
  const placed = items.map((item) => placedPolicy(item, pressureWindowNs));
  placed.forEach((one, index) => {
    if (compatibility === 'kubelet') {
      const message = 'policies: the kubelet has no such key, and compatibility is kubelet';
      report.issue('EVICTD_CONFIG_PROFILE', message, one.item.layer.at(one.item.path), 'remove it, or set compatibility: evictd');
    }
    reportDuplicate(one, placed.slice(0, index), report);
    reportContradiction(one, report);
  });
  return placed;
}

function placedPolicy(item: ListItem<PolicyEntry>, pressureWindowNs: bigint): PlacedPolicy {
  const { when, unless, ...entry } = item.value;
  const scope = entry.scope === undefined ? 'node' : 'cgroup';
  const read = (text: string) => {
    const parsed = parseCondition(text, { scope, pressureWindowNs });
    if ('condition' in parsed) return parsed;
    throw new Error(`a condition was accepted and is wrong: ${text}`, { cause: parsed.problems[0] });
  };
  const parsed = { when: read(when), unless: unless === undefined ? undefined : read(unless) };
  const { at, within = at } = item.layer;
  const placesOf = (key: ConditionKey) => (parsed[key]?.offsets ?? []).map((offset) => within([...item.path, key], offset));
  return {
    policy: { ...entry, when: parsed.when.condition, ...(parsed.unless && { unless: parsed.unless.condition }) },
    item,
    tests: { when: placesOf('when'), unless: placesOf('unless') },
  };
}

/** Two ladders for the same condition would act twice. */
function reportDuplicate({ policy, item }: PlacedPolicy, earlier: readonly PlacedPolicy[], report: Report): void {
  const named = earlier.find((other) => other.policy.name === policy.name);
  if (named !== undefined) {
    const message = `${keyText(item.path)}: duplicate name of a policy: ${policy.name}, first ${keyText(named.item.path)}`;
    report.issue('EVICTD_CONFIG_POLICY', message, item.layer.at([...item.path, 'name']), 'rename one of them');
  }
  const same = earlier.find((other) => isSame(other.policy, policy));
  if (same === undefined) return;
  const message = `${keyText(item.path)}: ${policy.name} has the scope and the condition of ${same.policy.name}`;
  report.issue('EVICTD_CONFIG_POLICY', message, item.layer.at([...item.path, 'when']), 'write one policy, with the steps of both');
}

/** Whether two policies are the same. Those that differ only in `for` are two stages of one ladder. */
function isSame(a: ConfiguredPolicy, b: ConfiguredPolicy): boolean {
  if (a.scope?.cgroup !== b.scope?.cgroup || a.forNs !== b.forNs || !sameCondition(a.when, b.when)) return false;
  return a.unless === undefined || b.unless === undefined ? a.unless === b.unless : sameCondition(a.unless, b.unless);
}

/** A policy that never acts, or always. */
function reportContradiction({ policy: { when, unless }, item, tests }: PlacedPolicy, report: Report): void {
  const refuse = (key: ConditionKey, message: string, hint: string, test?: Test): void => {
    const path: KeyPath = [...item.path, key];
    const place = test && tests[key][testsOf(when).indexOf(test)];
    report.issue('EVICTD_CONFIG_POLICY', `${keyText(path)}: ${message}`, place ?? item.layer.at(path), hint);
  };
  const not = (condition: Condition): Condition => ({ kind: 'not', condition });
  const never = contradiction(when);
  const always = contradiction(not(when));
  if (never !== undefined) {
    refuse('when', 'can never hold: its tests contradict each other', 'join them with |, or correct an amount', never);
  } else if (always !== undefined) refuse('when', 'always holds', 'correct an amount, or remove a test', always);
  else if (unless !== undefined && contradiction({ kind: 'and', conditions: [when, not(unless)] }) !== undefined) {
    refuse('unless', 'holds whenever when holds: the policy never acts', 'correct one of them');
  }
}
