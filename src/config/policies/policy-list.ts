import { neverHolds, sameCondition } from '../../core/condition/condition-logic.js';
import { parseCondition } from '../../core/condition/parse-condition.js';
import type { Compatibility } from '../../core/decide/departures.js';
import type { Condition } from '../../core/policy/condition.js';
import type { ConfiguredPolicy } from '../../core/policy/configured-policy.js';
import type { ListItem } from '../value/document.js';
import { keyText, type KeyPath, type Report } from '../value/report.js';
import type { PolicyEntry } from './policy-entry.js';

/** A policy and where it stands. */
interface Placed {
  readonly policy: ConfiguredPolicy;
  readonly item: ListItem<PolicyEntry>;
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
): ConfiguredPolicy[] {
  const placed = items.map((item): Placed => ({ policy: policyOf(item.value, pressureWindowNs), item }));
  placed.forEach((one, index) => {
    if (compatibility === 'kubelet') {
      const message = 'policies: the kubelet has no such key, and compatibility is kubelet';
      report.issue('EVICTD_CONFIG_PROFILE', message, one.item.layer.at(one.item.path), 'remove it, or set compatibility: evictd');
    }
    reportDuplicate(one, placed.slice(0, index), report);
    reportContradiction(one, report);
  });
  return placed.map(({ policy }) => policy);
}

function policyOf({ when, unless, ...entry }: PolicyEntry, pressureWindowNs: bigint): ConfiguredPolicy {
  const scope = entry.scope === undefined ? 'node' : 'cgroup';
  const read = (text: string): Condition => {
    const parsed = parseCondition(text, { scope, pressureWindowNs });
    if ('condition' in parsed) return parsed.condition;
    throw new Error(`a condition was accepted and is wrong: ${text}`, { cause: parsed.problems[0] });
  };
  return { ...entry, when: read(when), ...(unless !== undefined && { unless: read(unless) }) };
}

/** Two ladders for the same condition would act twice. */
function reportDuplicate({ policy, item }: Placed, earlier: readonly Placed[], report: Report): void {
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

/** With different values of `for` they are two stages of one ladder. */
function isSame(a: ConfiguredPolicy, b: ConfiguredPolicy): boolean {
  if (a.scope?.cgroup !== b.scope?.cgroup || a.forNs !== b.forNs || !sameCondition(a.when, b.when)) return false;
  return a.unless === undefined || b.unless === undefined ? a.unless === b.unless : sameCondition(a.unless, b.unless);
}

/** A policy that never acts, or always. */
function reportContradiction({ policy: { when, unless }, item }: Placed, report: Report): void {
  const refuse = (key: 'when' | 'unless', message: string, hint: string): void => {
    const path: KeyPath = [...item.path, key];
    report.issue('EVICTD_CONFIG_POLICY', `${keyText(path)}: ${message}`, item.layer.at(path), hint);
  };
  const not = (condition: Condition): Condition => ({ kind: 'not', condition });
  if (neverHolds(when)) refuse('when', 'can never hold: its tests contradict each other', 'join them with |, or correct an amount');
  else if (neverHolds(not(when))) refuse('when', 'always holds', 'correct an amount, or remove a test');
  else if (unless !== undefined && neverHolds({ kind: 'and', conditions: [when, not(unless)] })) {
    refuse('unless', 'holds whenever when holds: the policy never acts', 'correct one of them');
  }
}
