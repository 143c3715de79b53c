import type { ManagedUnit } from '../systemd/managed-unit.js';
import type { ManagedSettings, OomdSettings, OomRule, OomRuleAction } from '../systemd/oomd-settings.js';
import type { Condition, ScopeKind } from './condition.js';
import type { Comparator, ConfiguredPolicy, LadderStep, ManagedVictims } from './configured-policy.js';
import type { MetricName } from './metric.js';

/** systemd-oomd's constants (systemd v261, src/oom/oomd-manager.h). */
const SECOND = 1_000_000_000n;
/** POST_ACTION_DELAY_USEC. */
const COOLDOWN_NS = 15n * SECOND;
/** RECLAIM_DURATION_USEC: pressure without reclaim in this time is not a reason, as a kill would not end it. */
const RECLAIM_NS = 30n * SECOND;
/** The time for a new cgroup, of which the longer time cannot be known yet. */
const FIRST_RECLAIM_NS = 2n * SECOND;
/** THRESHOLD_SWAP_USED_PERCENT. */
const SWAP_OF_VICTIM = 0.05;

/**
 * The policies that carry out what units ask of systemd-oomd; none while it runs. One for all units with the same limit,
 * named 'managed-oom-…'.
 */
export function managedPolicies({ units, settings, rules, isLeftToOomd }: ManagedSettings): readonly ConfiguredPolicy[] {
  if (isLeftToOomd) return [];
  return [...swapPolicies(units, settings), ...pressurePolicies(units, settings), ...rules.flatMap((rule) => rulePolicies(units, rule))];
}

/** monitor_swap_contexts_handler. */
function swapPolicies(units: readonly ManagedUnit[], { swapUsedLimit }: OomdSettings): readonly ConfiguredPolicy[] {
  const within = units.filter(({ swap }) => swap).map(({ path }) => path);
  if (within.length === 0) return [];
  const free = hundredths(1 - swapUsedLimit);
  const when: Condition = {
    kind: 'and',
    conditions: [share('memory.available', 'node', '<', free), share('swap.available', 'node', '<', free)],
  };
  return [policy('swap', when, { within, swapAbove: SWAP_OF_VICTIM }, ['swap'])];
}

/** monitor_memory_pressure_contexts_handler. */
function pressurePolicies(units: readonly ManagedUnit[], settings: OomdSettings): readonly ConfiguredPolicy[] {
  const groups = new Map<
    string,
    { readonly limit: number; readonly durationNs: bigint; readonly of: ScopeKind; readonly paths: string[] }
  >();
  for (const { path, pressure } of units) {
    if (pressure === undefined) continue;
    const { limit = settings.pressureLimit, durationNs = settings.pressureDurationNs } = pressure;
    const of = path === '/' ? 'node' : 'cgroup';
    const name = `${of === 'node' ? 'root-' : ''}pressure-${percent(limit).slice(0, -1)}-${String(Number(durationNs / 1_000_000n) / 1000)}s`;
    const group = groups.get(name) ?? { limit, durationNs, of, paths: [] };
    group.paths.push(path);
    groups.set(name, group);
  }
  return [...groups].map(([name, { limit, durationNs, of, paths }]) => ({
    ...policy(name, { kind: 'and', conditions: [pressureAbove(limit, of), reclaims(of)] }, { within: paths }, ['pgscan', 'size']),
    ...(of === 'cgroup' && { scope: { paths } }),
    forNs: durationNs,
    cooldownNs: COOLDOWN_NS,
  }));
}

/** What an action ends, and by what it chooses. kill-all ends the unit, which a slice cannot be: it would be many victims. */
const OF_ACTIONS: Readonly<Record<OomRuleAction, Omit<ManagedVictims, 'within'> & { readonly by: readonly Comparator[] }>> = {
  'kill-all': { themselves: true, by: ['size'] },
  'kill-by-pgscan': { by: ['pgscan', 'size'] },
  'kill-by-swap': { swapAbove: SWAP_OF_VICTIM, by: ['swap'] },
};

/** Whether evictd carries out the action of a rule for a unit of this name. */
export function isCarriedOut(action: OomRuleAction, unit: string): boolean {
  return action !== 'kill-all' || !unit.endsWith('.slice');
}

/** ruleset_check_conditions, ruleset_execute_action. Without a pressure the rule is one for the node. */
function rulePolicies(
  units: readonly ManagedUnit[],
  { name, pressureAbove: limit, swapAbove, action, lastingNs }: OomRule,
): readonly ConfiguredPolicy[] {
  const named = units.filter(({ name: unit, rules }) => rules.includes(name) && isCarriedOut(action, unit));
  const paths = named.map(({ path }) => path);
  if (paths.length === 0) return [];
  const conditions = [
    ...(limit === undefined ? [] : [pressureAbove(limit, 'cgroup')]),
    ...(swapAbove === undefined ? [] : [share('swap.available', 'node', '<', hundredths(1 - swapAbove))]),
  ];
  const [first, second] = conditions;
  if (first === undefined) return [];
  const { by, ...victims } = OF_ACTIONS[action];
  return [
    {
      ...policy(`rule-${name}`, second ? { kind: 'and', conditions } : first, { within: paths, ...victims }, by),
      ...(limit !== undefined && { scope: { paths } }),
      forNs: lastingNs,
      cooldownNs: lastingNs,
    },
  ];
}

function policy(name: string, when: Condition, managed: ManagedVictims, by: readonly Comparator[]): ConfiguredPolicy {
  const kill: LadderStep = { kind: 'kill', by, unit: 'workload', recursive: false };
  return { name: `managed-oom-${name}`, managed, when, forNs: 0n, cooldownNs: 0n, then: [kill] };
}

function pressureAbove(limit: number, of: ScopeKind): Condition {
  return share('memory.pressure.full.avg10', of, '>', limit);
}

function reclaims(of: ScopeKind): Condition {
  const conditions = [FIRST_RECLAIM_NS, RECLAIM_NS].map((windowNs): Condition => ({
    kind: 'comparison',
    metric: { name: 'pgscan', of },
    comparison: '>',
    amount: { kind: 'quantity', value: 0, text: '0' },
    windowNs,
  }));
  return { kind: 'or', conditions };
}

function share(name: MetricName, of: ScopeKind, comparison: '<' | '>', ratio: number): Condition {
  return { kind: 'comparison', metric: { name, of }, comparison, amount: { kind: 'share', ratio, text: percent(ratio) } };
}

/** A ratio in hundredths of a percent, the unit in which systemd counts. */
function hundredths(ratio: number): number {
  return Math.round(ratio * 10_000) / 10_000;
}

/** 0.605 → '60.5%' */
function percent(ratio: number): string {
  return `${String(Math.round(ratio * 10_000) / 100)}%`;
}
