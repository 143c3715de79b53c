import type { StepInput } from '../../../src/core/decide/step-input.js';
import { parseCondition } from '../../../src/core/condition/parse-condition.js';
import type { Condition, ScopeKind } from '../../../src/core/policy/condition.js';
import type { ConfiguredPolicy, LadderStep } from '../../../src/core/policy/configured-policy.js';
import type { RawValue } from '../../../src/core/policy/raw-value.js';
import type { ScopeReading } from '../../../src/core/policy/scope-reading.js';
import { SECOND } from '../support.js';

export function condition(text: string, scope: ScopeKind): Condition {
  const parsed = parseCondition(text, { scope, pressureWindowNs: 2n * SECOND });
  if ('problems' in parsed) throw new Error(JSON.stringify(parsed.problems));
  return parsed.condition;
}

export const KILL = { kind: 'kill', unit: 'workload', recursive: false, by: ['size'] } as const satisfies LadderStep;
export const STOP = { kind: 'stop', graceNs: 10n * SECOND, by: ['size'], unit: 'workload' } as const satisfies LadderStep;
export const FREEZE: LadderStep = { kind: 'freeze', forNs: 5n * SECOND };
export const THROTTLE: LadderStep = { kind: 'throttle', memoryHigh: { kind: 'usage' }, forNs: 30n * SECOND };
export const NOTIFY: LadderStep = { kind: 'notify' };

/** Of the cgroups below /a, above 100Ki of memory. */
export function ofCgroup(then: readonly LadderStep[], overrides: Partial<ConfiguredPolicy> = {}): ConfiguredPolicy {
  return {
    name: 'p',
    scope: { cgroup: '/a' },
    when: condition('memory.current > 100Ki', 'cgroup'),
    forNs: 0n,
    cooldownNs: 15n * SECOND,
    then,
    ...overrides,
  };
}

export function reading(path: string, timeNs: bigint, values: Partial<Record<RawValue, number>>, id = 1n): ScopeReading {
  return { path, id, timeNs, values: new Map(Object.entries(values) as [RawValue, number][]) };
}

/** The input of a policy p whose one scope /a uses so much; undefined: the cgroup was removed. */
export function using(
  kibibytes: number | undefined,
  workloads: Readonly<Record<string, Partial<Record<RawValue, number>>>> = {},
): Partial<StepInput> {
  return {
    policyReadings: () => ({
      scopes: new Map([['p', kibibytes === undefined ? [] : [reading('/a', 0n, { 'memory.current': kibibytes * 1024 })]]]),
    }),
    policyWorkloads: (paths) => paths.flatMap((path) => (workloads[path] === undefined ? [] : [reading(path, 0n, workloads[path])])),
  };
}
