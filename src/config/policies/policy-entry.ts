import * as z from 'zod/mini';
import { parseCondition } from '../../core/condition/parse-condition.js';
import type { ConditionFault, ConditionProblem } from '../../core/condition/condition-problem.js';
import type { ScopeKind } from '../../core/policy/condition.js';
import { namesIn } from '../../core/workload/cgroup.js';
import type { ConfiguredPolicy } from '../../core/policy/configured-policy.js';
import { METRIC_NAMES } from '../../core/policy/metric.js';
import { policyHooksSchema } from '../resolve/hooks.js';
import { isRecord } from '../value/document.js';
import { shaped } from '../value/json-shape.js';
import { suggestion } from '../value/report.js';
import { parsed, refuseAt, text } from '../value/scalar.js';
import { cgroupText, durationText, TextError } from '../value/value-text.js';
import { ladderStep } from './ladder-steps.js';
import { NS_PER_HOUR } from '../../core/quantity/duration.js';

const DEFAULT_COOLDOWN_NS = 15_000_000_000n;
/** Only the place of a test depends on the window. */
const ANY_WINDOW_NS = 1n;

/** Names of policies that evictd makes. */
const RESERVED: Readonly<Record<string, string>> = {
  'managed-oom-': 'policies that units ask for',
  'memory-node-': 'policies of memory nodes',
};

/** Part of log lines, metrics and names of transient units. */
function nameText(input: string): string {
  for (const [prefix, policies] of Object.entries(RESERVED)) {
    if (input.startsWith(prefix))
      throw new TextError('EVICTD_CONFIG_VALUE', `names with ${prefix} are of ${policies}`, 'choose another name');
  }
  if (/^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/.test(input)) return input;
  const hint = 'use at most 63 lower-case letters, digits and -, beginning and ending with a letter or digit';
  throw new TextError('EVICTD_CONFIG_VALUE', `not a valid name of a policy: ${JSON.stringify(input)}`, hint);
}

function scopeText(input: string): string {
  const path = cgroupText(input);
  if (namesIn(path).length > 0) return path;
  throw new TextError(
    'EVICTD_CONFIG_VALUE',
    `${path} is the root cgroup, which is the whole machine`,
    'leave out scope: the policy is about the node then',
  );
}

/** Conditions are texts until the configuration is merged: a pressure metric has the window of `pressureWindow`. */
export interface PolicyEntry extends Omit<ConfiguredPolicy, 'when' | 'unless'> {
  readonly when: string;
  readonly unless?: string;
}

const CODES: Readonly<Record<ConditionFault, string>> = {
  CONDITION: 'EVICTD_CONFIG_CONDITION',
  METRIC: 'EVICTD_CONFIG_METRIC',
  AMOUNT: 'EVICTD_CONFIG_AMOUNT',
};

type Payload = Parameters<typeof refuseAt>[0];

/** A condition; in a policy about cgroups more metrics exist, so the scope is checked below. */
const condition = shaped(
  z.pipe(
    text,
    z.transform((input: string, payload) => {
      refuseProblems(payload, problemsOf(input, 'cgroup'), input, []);
      return input;
    }),
  ),
  { type: 'string' },
);

function problemsOf(input: string, scope: ScopeKind): readonly ConditionProblem[] {
  const read = parseCondition(input, { scope, pressureWindowNs: ANY_WINDOW_NS });
  return 'problems' in read ? read.problems : [];
}

function refuseProblems(payload: Payload, problems: readonly ConditionProblem[], input: string, path: readonly string[]): void {
  for (const { fault, offset, message, hint } of problems) {
    const [word = ''] = /^[^\s&|!()<>=,;]+/.exec(input.slice(offset)) ?? [];
    const shown = hint === '' && fault === 'METRIC' ? metricHint(word) : hint;
    refuseAt(payload, input, CODES[fault], message, shown, path, offset);
  }
}

function metricHint(word: string): string {
  if (/^\d/.test(word)) return 'write the metric first: memory.available < 10%';
  const near = suggestion(word.replace(/^node\./, ''), METRIC_NAMES);
  return near.startsWith('did') ? near : 'docs/policies.md lists the metrics';
}

const entry = z.pipe(
  z.strictObject({
    name: parsed(nameText),
    scope: z.optional(z.strictObject({ cgroup: parsed(scopeText) })),
    when: condition,
    for: z.optional(parsed((input) => durationText(input, 0n, NS_PER_HOUR))),
    unless: z.optional(condition),
    cooldown: z.optional(parsed((input) => durationText(input, 0n, 24n * NS_PER_HOUR))),
    then: z.array(ladderStep),
    hooks: z.optional(policyHooksSchema),
  }),
  z.transform(({ name, scope, when, for: held = 0n, unless, cooldown = DEFAULT_COOLDOWN_NS, then, hooks }): PolicyEntry => {
    const left = { ...(scope && { scope }), ...(unless !== undefined && { unless }), ...(hooks && { hooks }) };
    return { name, when, forNs: held, cooldownNs: cooldown, then, ...left };
  }),
);

/** Problems between the keys of an entry are reported together with the problems of each key. */
export const policyEntry = z.pipe(
  z.transform((written: unknown, payload) => {
    if (!isRecord(written)) return written;
    refuseNodeMetrics(payload, written);
    refuseLadder(payload, written.then);
    refuseHooks(payload, written);
    const others = payload.issues.length === 0 ? [] : (entry.safeParse(written, { reportInput: true }).error?.issues ?? []);
    payload.issues.push(...(others as Payload['issues']));
    return written;
  }),
  entry,
);

/** Refuses metrics of cgroups in a policy without a scope. */
function refuseNodeMetrics(payload: Payload, written: Readonly<Record<string, unknown>>): void {
  if (written.scope !== undefined) return;
  for (const key of ['when', 'unless']) {
    const input = written[key];
    if (typeof input !== 'string') continue;
    const anyway = new Set(problemsOf(input, 'cgroup').map(({ offset }) => offset));
    const problems = problemsOf(input, 'node').filter(({ offset }) => !anyway.has(offset));
    refuseProblems(payload, problems, input, [key]);
  }
}

/** Refuses hooks of a policy that evicts nothing. */
function refuseHooks(payload: Payload, { hooks, then }: Readonly<Record<string, unknown>>): void {
  if (hooks === undefined || !Array.isArray(then) || ['stop', 'kill'].some((kind) => then.some((step) => isStep(step, kind)))) return;
  const hint = 'add stop or kill, or write run: [/path/of/program] as a step';
  refuseAt(payload, hooks, 'EVICTD_CONFIG_POLICY', 'no step of this policy evicts', hint, ['hooks']);
}

function isStep(step: unknown, kind: string): boolean {
  return step === kind || (isRecord(step) && Object.hasOwn(step, kind));
}

function refuseLadder(payload: Payload, then: unknown): void {
  if (!Array.isArray(then)) return;
  const last = then.findIndex((step) => isStep(step, 'kill'));
  if (then.length === 0) refuseAt(payload, then, 'EVICTD_CONFIG_POLICY', 'has no step', 'add one, like - notify', ['then']);
  if (last === -1 || last === then.length - 1) return;
  const hint = 'kill is repeated as long as the condition holds: put it last';
  refuseAt(payload, then, 'EVICTD_CONFIG_POLICY', 'no step can follow kill', hint, ['then', last + 1]);
}
