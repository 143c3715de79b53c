import { policyNeeds, testsOf } from '../policy/condition-needs.js';
import type { MetricReference, Truth } from '../policy/condition.js';
import type { ConfiguredPolicy } from '../policy/configured-policy.js';
import { evaluateCondition, measuredValues, type ConditionReadings, type MeasuredValue } from '../policy/evaluate-condition.js';
import { METRICS } from '../policy/metric.js';
import type { PolicyReason } from '../policy/policy-reason.js';
import type { RawValue } from '../policy/raw-value.js';
import type { ScopeReading } from '../policy/scope-reading.js';
import { amountOfBytes } from '../quantity/amount.js';
import { metricText } from '../condition/condition-text.js';
import type { Observations } from '../signal/observation.js';
import { AMOUNT_SIGNALS } from '../signal/signal.js';

/** Whether a policy's condition holds: `when`, and not `unless`. */
export function truthOf({ when, unless }: ConfiguredPolicy, readings: ConditionReadings): Truth {
  const holds = evaluateCondition(when, readings);
  if (holds === false || unless === undefined) return holds;
  const isExcepted = evaluateCondition(unless, readings);
  if (isExcepted === true) return false;
  return isExcepted === 'unknown' ? 'unknown' : holds;
}

/** The metrics of the tests that are neither true nor false. */
export function unknownMetrics({ when, unless }: ConfiguredPolicy, readings: ConditionReadings): readonly string[] {
  const tests = [when, ...(unless === undefined ? [] : [unless])].flatMap(testsOf);
  const unknown = tests.filter((test) => evaluateCondition(test, readings) === 'unknown');
  return [...new Set(unknown.map(({ metric }) => nameIn(metric, readings)))];
}

function nameIn(metric: MetricReference, { cgroup }: ConditionReadings): string {
  return metricText(metric, cgroup === undefined ? 'node' : 'cgroup');
}

/** What the metrics of the condition were. One that was not known is left out. */
export function readingsOf({ when, unless }: ConfiguredPolicy, readings: ConditionReadings): Pick<PolicyReason, 'values' | 'readings'> {
  const measured = [when, ...(unless === undefined ? [] : [unless])].flatMap((condition) => measuredValues(condition, readings));
  const known = measured.flatMap(({ test, value }) => {
    return value === undefined ? [] : [{ name: nameIn(test.metric, readings), value, text: measuredText(test, value) }];
  });
  const texts = new Map(known.map(({ name, text }) => [name, `${name} ${text}`]));
  const values = Object.fromEntries(known.map(({ name, value }) => [name, value]));
  return known.length === 0 ? { values } : { values, readings: [...texts.values()].join(', ') };
}

/** '45.2%', '1.2GiB', '300/s'. */
function measuredText({ metric, amount }: MeasuredValue['test'], value: number): string {
  const { kind, unit } = METRICS[metric.name];
  if (unit === 'share' || (amount.kind === 'share' && kind !== 'level')) return `${String(Math.floor(value * 10_000) / 100)}%`;
  const text = unit === 'bytes' ? amountOfBytes(BigInt(Math.trunc(value))) : String(Math.round(value * 10) / 10);
  return `${text}${unit === 'seconds' ? ' s' : ''}${amount.kind === 'rate' ? '/s' : ''}`;
}

interface Windows {
  readonly longestNs: bigint;
  readonly shortestNs: bigint | undefined;
}

const WINDOWS = new WeakMap<ConfiguredPolicy, Windows>();

/** The times that the policy's conditions look back. */
export function windowsOf(policy: ConfiguredPolicy): Windows {
  const known = WINDOWS.get(policy);
  if (known !== undefined) return known;
  const { longestWindowNs, shortestWindowNs } = policyNeeds([policy]);
  const windows = { longestNs: longestWindowNs, shortestNs: shortestWindowNs };
  WINDOWS.set(policy, windows);
  return windows;
}

/** The reading of the node with the signals that the step has observed. undefined: neither is known. */
export function nodeReading(
  read: ScopeReading | undefined,
  observations: Observations | undefined,
  nowNs: bigint,
): ScopeReading | undefined {
  if (read === undefined && observations === undefined) return undefined;
  const values = new Map<RawValue, number>(read?.values);
  for (const signal of AMOUNT_SIGNALS) {
    const observation = observations?.observed.get(signal);
    if (observation === undefined) continue;
    values.set(signal, Number(observation.available));
    values.set(`${signal}.capacity`, Number(observation.capacity));
  }
  return { path: '', timeNs: read?.timeNs ?? nowNs, values };
}
