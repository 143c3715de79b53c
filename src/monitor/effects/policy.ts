import type { Effect } from '../../core/decide/effect.js';
import { policyEndMessage, policyMessage, policyResultMessage } from '../../core/message/policy-message.js';
import type { Json, JsonObject } from '../../core/name/json-text.js';
import { jsonInteger } from '../../core/quantity/integer.js';
import type { EffectHandler } from './handler.js';

type PolicyAct = Extract<Effect, { kind: 'policy' }>;

/** A step of a ladder acts, or lifts a restraint; in a dry run that is only recorded. */
export const policy: EffectHandler<PolicyAct> = {
  record: (effect) => {
    const { kind: _, policy: name, scope, action, dryRun: __, ...act } = effect;
    return { type: 'policy', event: 'act', policy: name, scope, action, ...jsonAct(act), message: policyMessage(effect) };
  },
  isRecordedFirst: true,
  perform: (effect, { policies }) => {
    if (!effect.dryRun) policies?.perform(effect);
  },
  log: ({ policy: name, scope, action }) => ({ level: isMild(action) ? 'info' : 'warn', fields: { policy: name, scope, action } }),
  metric: ({ policy: name, action, dryRun }, metrics) => {
    if (dryRun) metrics.policyAction(name, action, 'dry-run');
  },
};

function isMild(action: PolicyAct['action']): boolean {
  return action === 'unthrottle' || action === 'thaw';
}

/** Times in seconds, bytes as numbers, at any depth. */
function jsonAct(act: object): JsonObject {
  const values = Object.entries(act).map(([key, value]: [string, unknown]): [string, Json] =>
    typeof value === 'bigint' && key.endsWith('Ns') ? [`${key.slice(0, -2)}Seconds`, Number(value) / 1e9] : [key, jsonValue(value)],
  );
  return Object.fromEntries(values);
}

function jsonValue(value: unknown): Json {
  if (typeof value === 'bigint') return jsonInteger(value);
  if (Array.isArray(value)) return value.map(jsonValue);
  return typeof value === 'object' && value !== null ? jsonAct(value) : (value as Exclude<Json, object>);
}

/** The time in ns, rounded down to milliseconds. */
function milliseconds(ns: bigint): bigint {
  return ns - (ns % 1_000_000n);
}

export const policyResult: EffectHandler<Extract<Effect, { kind: 'policy-result' }>> = {
  record: (effect) => {
    const { kind: _, policy: name, ...result } = effect;
    return {
      type: 'policy',
      event: 'result',
      policy: name,
      ...jsonAct(result),
      message: policyResultMessage(effect),
    };
  },
  log: ({ policy: name, scope, action, result }) => ({
    level: result === 'done' || result === 'dry-run' ? 'info' : 'warn',
    fields: { policy: name, scope, action, result },
  }),
  metric: ({ policy: name, action, result }, metrics) => {
    metrics.policyAction(name, action, result);
  },
};

export const policyEnd: EffectHandler<Extract<Effect, { kind: 'policy-end' }>> = {
  record: (effect) => {
    const { policy: name, scope, reason, steps, tookNs, gainedBytes } = effect;
    return {
      type: 'policy',
      event: 'end',
      policy: name,
      scope,
      reason,
      lastAction: steps.at(-1)?.action,
      steps: steps.map((step) => jsonAct({ ...step, tookNs: milliseconds(step.tookNs) })),
      tookSeconds: Number(milliseconds(tookNs)) / 1e9,
      ...(gainedBytes === undefined ? {} : { gainedBytes: jsonInteger(gainedBytes) }),
      message: policyEndMessage(effect),
    };
  },
  log: ({ policy: name, scope, reason }) => ({ level: 'info', fields: { policy: name, scope, reason } }),
};
