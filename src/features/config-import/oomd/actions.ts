import type { Comparator } from '../../../core/policy/configured-policy.js';
import type { CgroupPattern } from '../cgroup-pattern.js';
import type { Mapping, MigratedStep } from '../migration.js';
import { DAY_SECONDS } from '../values.js';
import type { Args } from './detectors.js';

export interface MigratedAction {
  /** Left out: it has no counterpart. */
  readonly step?: MigratedStep;
  /** What it may kill. */
  readonly targets?: readonly CgroupPattern[];
  /** Its own post_action_delay. */
  readonly delaySeconds?: number;
}

export interface Action {
  readonly mapping: Mapping;
  /** Arguments that the step takes in. */
  readonly args: readonly string[];
  /** oomd takes the next action only if this one has failed. */
  readonly ends?: true;
  readonly convert: (args: Args) => MigratedAction;
}

/** What an action may kill or freeze; it must say it. */
function targetsOf(args: Args): readonly CgroupPattern[] {
  const targets = args.cgroups();
  if (targets.length === 0) args.missing('cgroup');
  return targets;
}

function delayOf(args: Args): Pick<MigratedAction, 'delaySeconds'> {
  return args.get('post_action_delay') === undefined ? {} : { delaySeconds: args.number('post_action_delay', DAY_SECONDS) };
}

function kill(mapping: Mapping, by: (args: Args) => readonly Comparator[], args: readonly string[] = []): Action {
  return {
    mapping,
    args: ['cgroup', 'recursive', 'post_action_delay', ...args],
    ends: true,
    convert: (given) => ({
      // `dry` of oomd is of one action; the dry run of evictd is of the whole.
      step: given.isTrue('dry') ? 'notify' : { kill: { by: by(given), ...(given.isTrue('recursive') && { recursive: true as const }) } },
      targets: targetsOf(given),
      ...delayOf(given),
    }),
  };
}

/** Actions by name. */
export const ACTIONS: Readonly<Record<string, Action>> = {
  kill_by_memory_size_or_growth: kill(
    {
      settings: ['kill_by_memory_size_or_growth'],
      becomes: '`kill: { by: [size, growth] }`',
      note: 'oomd prefers growth below `size_threshold`; evictd takes the largest and compares growth only between equal ones',
    },
    () => ['size', 'growth'],
  ),
  kill_by_swap_usage: kill({ settings: ['kill_by_swap_usage'], becomes: '`kill: { by: [swap] }`' }, () => ['swap']),
  kill_by_pressure: kill(
    { settings: ['kill_by_pressure'], becomes: '`kill: { by: [pressure] }`, with `resource: io` `by: [io]`' },
    (args) => [args.resource() === 'io' ? 'io' : 'pressure'],
    ['resource'],
  ),
  kill_by_io_cost: kill(
    {
      settings: ['kill_by_io_cost'],
      becomes: '`kill: { by: [io] }`',
      note: 'with the default coefficients of oomd, or the cost model of the kernel; `--device` and coefficients are not read',
    },
    () => ['io'],
  ),
  kill_by_pg_scan: kill({ settings: ['kill_by_pg_scan'], becomes: '`kill: { by: [pgscan] }`' }, () => ['pgscan']),
  systemd_restart: {
    mapping: { settings: ['systemd_restart'], becomes: '`run: [/usr/bin/systemctl, restart, UNIT]`' },
    args: ['service', 'post_action_delay'],
    ends: true,
    convert: (args) => {
      const service = args.get('service');
      if (service === undefined) args.missing('service');
      return {
        step: args.isTrue('dry') ? 'notify' : { run: ['/usr/bin/systemctl', 'restart', service?.text ?? ''] },
        ...delayOf(args),
      };
    },
  },
  freeze: {
    mapping: {
      settings: ['freeze'],
      becomes: '`freeze: { for: 30s }`',
      note: 'evictd freezes one workload of the cgroup, and thaws it after this time',
    },
    args: ['cgroup'],
    convert: (args) => ({ step: args.isTrue('dry') ? 'notify' : { freeze: { for: '30s' } }, targets: targetsOf(args) }),
  },
  unfreeze: { mapping: { settings: ['unfreeze'], becomes: 'nothing: evictd thaws by itself' }, args: ['cgroup'], convert: () => ({}) },
  throttle: {
    mapping: {
      settings: ['throttle'],
      note: 'it limits CPU time, and the `throttle` of evictd limits memory. Nearest: `run: [/usr/bin/systemctl, set-property, --runtime, UNIT, CPUQuota=50%]`',
    },
    args: [],
    convert: () => ({}),
  },
  continue: { mapping: { settings: ['continue'], becomes: 'nothing: it does nothing' }, args: [], convert: () => ({}) },
  stop: { mapping: { settings: ['stop'], becomes: 'nothing: it ends the chain of actions' }, args: [], convert: () => ({}) },
  senpai: without('senpai'),
  senpai_poking: without('senpai_poking'),
  senpai_hold: without('senpai_hold'),
};

function without(name: string): Action {
  const note = 'evictd reclaims when a condition is met, not all the time. Nearest: a policy with `reclaim: { memory: 200Mi, within: 5s }`';
  return { mapping: { settings: [name], note }, args: [], convert: () => ({}) };
}

const SENPAI_ARGUMENTS = [
  ...['limit_min_bytes', 'limit_max_bytes', 'interval', 'pressure_ms', 'pressure_pct', 'io_pressure_pct', 'max_probe', 'max_backoff'],
  ...['coeff_probe', 'coeff_backoff', 'immediate_backoff', 'log_interval', 'memory_high_timeout_ms', 'scuba_logger_dataset'],
];

export const ACTION_ROWS: readonly Mapping[] = [
  ...Object.values(ACTIONS)
    .map(({ mapping }) => mapping)
    .filter(({ settings: [name = ''] }) => !/^(continue|stop|senpai.*)$/.test(name)),
  {
    settings: ['senpai', 'senpai_poking', 'senpai_hold', ...SENPAI_ARGUMENTS],
    ...(without('senpai').mapping.note !== undefined && { note: without('senpai').mapping.note }),
  },
];

/** Arguments that a step does not take in. */
export const ACTION_ARGUMENT_ROWS: readonly Mapping[] = [
  {
    settings: ['dry'],
    note: 'evictd has a dry run for the whole configuration, `evictd run --dry-run`. Nearest: the step `notify` instead of the action',
  },
  {
    settings: ['size_threshold', 'min_growth_ratio', 'growing_size_percentile'],
    note: 'comparators have no limits of their own. Nearest: a condition on `memory.growth`',
  },
  { settings: ['threshold'], note: 'a comparator has no minimum. Nearest: a condition on `memory.swap` in a policy with a scope' },
  { settings: ['biased_swap_kill'], note: 'evictd compares swap itself. Nearest: `by: [priority, swap]` with rules' },
  {
    settings: ['always_continue'],
    becomes: 'the policy for the next action acts as early as this one',
    note: 'evictd waits `cooldown` after a kill, oomd does not',
  },
  { settings: ['kernelkill', 'reap_memory'], note: 'evictd always uses cgroup.kill and process_mrelease where the kernel has them' },
];
