import type { Decision, Outcome } from '../../core/decide/eviction.js';
import { evictionSignal } from '../../core/message/eviction-signal.js';
import { decisionMessage, outcomeMessage } from '../../core/message/message.js';
import { printable } from '../../core/name/printable.js';

export type Environment = Readonly<Record<string, string>>;

/** What preEvict learns of a decision (docs/hooks.md). Bytes are decimal. Names are printable, as in the log. */
export function preEvictEnvironment(node: string, decision: Decision): Environment {
  const { serial, victim, graceNs, cause } = decision;
  const { name, path, unit } = victim.workload;
  const { process } = victim;
  return values({
    EVICTD_HOOK: 'preEvict',
    EVICTD_NODE: node,
    EVICTD_DECISION: String(serial),
    EVICTD_SIGNAL: evictionSignal(decision),
    ...(cause.kind === 'policy' && { EVICTD_POLICY: cause.policy, EVICTD_SCOPE: cause.scope, EVICTD_CONDITION: cause.condition }),
    EVICTD_VICTIM: name,
    EVICTD_VICTIM_CGROUP: path,
    ...(unit && { EVICTD_VICTIM_UNIT: unit.name }),
    ...(process && { EVICTD_VICTIM_PID: String(process.pid), EVICTD_VICTIM_COMMAND: process.command }),
    EVICTD_VICTIM_USAGE_BYTES: String(victim.stats?.usageBytes ?? 0n),
    EVICTD_GRACE_SECONDS: String(Number(graceNs > 0n ? graceNs : 0n) / 1e9),
    EVICTD_REASON: decisionMessage(decision),
  });
}

/** What postEvict learns of an outcome: the same, and the result. */
export function postEvictEnvironment(node: string, outcome: Outcome): Environment {
  const { decision, result, freedBytes, expectedBytes, nodeFreedBytes } = outcome;
  return {
    ...preEvictEnvironment(node, decision),
    ...values({
      EVICTD_HOOK: 'postEvict',
      EVICTD_RESULT: result,
      EVICTD_EXPECTED_BYTES: String(expectedBytes),
      EVICTD_FREED_BYTES: String(freedBytes),
      ...(nodeFreedBytes !== undefined && { EVICTD_NODE_FREED_BYTES: String(nodeFreedBytes) }),
      EVICTD_OUTCOME: outcomeMessage(outcome),
    }),
  };
}

function values(environment: Environment): Environment {
  return Object.fromEntries(Object.entries(environment).map(([variable, value]) => [variable, printable(value)]));
}
