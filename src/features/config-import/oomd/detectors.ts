import { amount, HOUR_SECONDS, percent, seconds, type Values } from '../values.js';
import type { Mapping } from '../migration.js';
import { isOne, scopeText, type CgroupPattern } from '../cgroup-pattern.js';
import type { Argument, Plugin } from './rulesets.js';
import { namesIn } from '../../../core/workload/cgroup.js';

export interface DetectedCondition {
  /**
   * The cgroups that it judges. Left out: the node, or none.
   */
  readonly cgroups?: readonly CgroupPattern[];
  /** The condition. Left out: it is always met. @param node  prefix of metrics that are to be the node's */
  readonly when?: (node: string) => string;
  readonly unless?: (node: string) => string;
  readonly forSeconds?: number;
  /** For a cgroup outside of the scope, the same metric of the node comes nearest. */
  readonly nearNode?: true;
  readonly isNever?: true;
  /** It has no counterpart. */
  readonly isLost?: true;
}

export interface Detector {
  readonly mapping: Mapping;
  /** Arguments that its condition takes in. */
  readonly args: readonly string[];
  readonly convert: (args: Args) => DetectedCondition;
}

export class Args {
  constructor(
    private readonly plugin: Plugin,
    readonly values: Values,
    /** The cgroups of the ruleset. */
    private readonly ruleset?: CgroupPattern,
  ) {}

  get(name: string): Argument | undefined {
    return this.plugin.args.get(name);
  }

  /** @param otherwise  where it is not given; left out: it must be */
  number(name: string, most: number, otherwise?: number): number {
    const value = this.get(name);
    if (value !== undefined) return this.values.number(value, `${this.plugin.name} ${name}`, most);
    if (otherwise === undefined) this.missing(name);
    return otherwise ?? 0;
  }

  /** Seconds, at most an hour. */
  duration(): number {
    return this.number('duration', HOUR_SECONDS);
  }

  isTrue(name: string): boolean {
    return ['true', 'True', '1'].includes(this.get(name)?.text ?? '');
  }

  resource(): 'memory' | 'io' {
    const value = this.get('resource');
    if (value !== undefined) return this.values.oneOf(value, `${this.plugin.name} resource`, ['memory', 'io']);
    this.missing('resource');
    return 'memory';
  }

  /** Those of `cgroup`, and those of `ruleset_cgroup` below the ruleset's. Neither is given: the ruleset's. */
  cgroups(): readonly CgroupPattern[] {
    const [own, below] = ['cgroup', 'ruleset_cgroup'].map((name) => this.get(name)?.text.split(',').map(namesIn));
    const { ruleset } = this;
    if (ruleset === undefined) return own ?? [];
    const rulesets = below?.map((names) => [...ruleset, ...names.filter((name) => name !== '.')]);
    return own === undefined && rulesets === undefined ? [ruleset] : [...(own ?? []), ...(rulesets ?? [])];
  }

  missing(name: string): void {
    this.values.missing(this.plugin.position, `the argument "${name}" of ${this.plugin.name}`);
  }
}

/** `15G`, `1.5M 32K 512`, `70%`; a number alone is in MiB. As an amount of evictd. */
function size(args: Args, name: string): string {
  const value = args.get(name);
  const text = value?.text.trim() ?? '';
  if (value === undefined) args.missing(name);
  if (value === undefined) return '0';
  if (/^\d+(\.\d+)?%$/.test(text)) return `${percent(Number(text.slice(0, -1)))} of memory.total`;
  if (/^\d+$/.test(text)) return amount(Number(text) * 1024 ** 2);
  const parts = text.split(/\s+/).map((part) => /^(\d+(?:\.\d+)?)([KMGT]?)$/i.exec(part));
  if (parts.some((part) => part === null)) args.values.refuse(value, 'a size (15G, 1.5M 32K) or a percentage', name, 0);
  const bytes = parts.map((part) => Number(part?.[1] ?? 0) * 1024 ** ['', 'K', 'M', 'G', 'T'].indexOf((part?.[2] ?? '').toUpperCase()));
  return amount(bytes.reduce((sum, each) => sum + each, 0));
}

const PAGE_BYTES = 4096;
const MAX_BYTES = 2 ** 50;
const MAX_PERCENT = 1_000_000;
const MAX_COUNT = 1_000_000_000;

function pressure(when: (full: string, limit: string) => string, unless?: (full: string) => string): Omit<Detector, 'mapping'> {
  return {
    args: ['cgroup', 'resource', 'threshold', 'duration'],
    convert: (args) => {
      const threshold = args.number('threshold', 100);
      const full = `${args.resource()}.pressure.full`;
      return {
        cgroups: args.cgroups(),
        when: (node) => when(node + full, percent(threshold)),
        ...(unless && { unless: (node: string) => unless(node + full) }),
        forSeconds: args.duration(),
        nearNode: true,
        ...(threshold === 100 && { isNever: true }),
      };
    },
  };
}

const ANY = { args: [], convert: () => ({}) } as const;

/** Detectors by name. */
export const DETECTORS: Readonly<Record<string, Detector>> = {
  pressure_rising_beyond: {
    mapping: {
      settings: ['pressure_rising_beyond'],
      becomes: '`memory.pressure.full.avg60` and `.avg10` above the threshold, `unless` `.avg10` is falling; `duration` is `for`',
      note: 'oomd takes the cgroup with the most pressure; evictd judges each cgroup by itself',
    },
    ...pressure(
      (full, limit) => `${full}.avg60 > ${limit} & ${full}.avg10 > ${limit}`,
      (full) => `${full}.avg10 falling`,
    ),
  },
  pressure_above: {
    mapping: {
      settings: ['pressure_above'],
      becomes: '`memory.pressure.full.avg10` (or `io.…`) above the threshold; `duration` is `for`',
      note: 'oomd takes the cgroup with the most pressure; evictd judges each cgroup by itself',
    },
    ...pressure((full, limit) => `${full}.avg10 > ${limit}`),
  },
  memory_above: {
    mapping: {
      settings: ['memory_above'],
      becomes: '`memory.current`, or `memory.anon` with `threshold_anon`, above the amount or percentage of `memory.total`',
    },
    args: ['cgroup', 'threshold', 'threshold_anon', 'duration'],
    convert: (args) => {
      const isAnon = args.get('threshold_anon') !== undefined;
      const least = size(args, isAnon ? 'threshold_anon' : 'threshold');
      return {
        cgroups: args.cgroups(),
        when: (node) => `${node}memory.${isAnon ? 'anon' : 'current'} > ${least}`,
        forSeconds: args.duration(),
      };
    },
  },
  memory_reclaim: {
    mapping: {
      settings: ['memory_reclaim'],
      becomes: '`pgscan > 0` over `duration`',
      note: 'evictd counts the scope and everything below it',
    },
    args: ['cgroup', 'duration'],
    convert: (args) => {
      // The shortest window of evictd is a second.
      const window = seconds(Math.max(1, args.duration()));
      return { cgroups: args.cgroups(), when: (node) => `${node}pgscan > 0 over ${window}`, nearNode: true };
    },
  },
  swap_free: {
    mapping: { settings: ['swap_free'], becomes: '`swap.available` below `threshold_pct` percent, `pswpout` for `swapout_bps_threshold`' },
    args: ['threshold_pct', 'swapout_bps_threshold'],
    convert: (args) => {
      const pages = Math.ceil(args.number('swapout_bps_threshold', MAX_BYTES, 0) / PAGE_BYTES);
      const rate = pages === 0 ? '' : ` & node.pswpout >= ${String(pages)}/s over 10s`;
      const free = args.number('threshold_pct', 100);
      return { when: () => `swap.available < ${percent(free)}${rate}`, ...(free === 0 && { isNever: true }) };
    },
  },
  swap_above_memory_max: {
    mapping: { settings: ['swap_above_memory_max'], becomes: '`memory.swap` above a percentage of `memory.max`' },
    args: ['cgroup', 'threshold_pct'],
    convert: (args) => {
      const limit = percent(args.number('threshold_pct', MAX_PERCENT));
      return { cgroups: args.cgroups(), when: (node) => `${node}memory.swap > ${limit} of ${node}memory.max` };
    },
  },
  nr_dying_descendants: {
    mapping: { settings: ['nr_dying_descendants'], becomes: '`descendants.dying` above `count`, or at most `count` with `lte`' },
    args: ['cgroup', 'count', 'lte'],
    convert: (args) => {
      const comparison = args.get('lte') === undefined || args.isTrue('lte') ? '<=' : '>';
      const count = String(Math.floor(args.number('count', MAX_COUNT)));
      return { cgroups: args.cgroups(), when: (node) => `${node}descendants.dying ${comparison} ${count}` };
    },
  },
  exists: {
    mapping: {
      settings: ['exists'],
      becomes: '`cgroup(PATH) exists`',
      note: 'a pattern has no counterpart',
    },
    args: ['cgroup', 'negate'],
    convert: (args) => {
      const cgroups = args.cgroups();
      if (cgroups.some((cgroup) => cgroup.length === 0)) return args.isTrue('negate') ? { isNever: true } : {};
      if (cgroups.length === 0 || !cgroups.every(isOne)) return { isLost: true };
      const exist = cgroups.map((cgroup) => `cgroup(${scopeText(cgroup) ?? ''}) exists`).join(' | ');
      return { when: () => `${args.isTrue('negate') ? '!' : ''}(${exist})` };
    },
  },
  dump_cgroup_overview: {
    mapping: {
      settings: ['dump_cgroup_overview'],
      note: "it prints a summary. Nearest: evictd's metrics and journal, which always have it",
    },
    ...ANY,
  },
  adjust_cgroup: {
    mapping: {
      settings: ['adjust_cgroup'],
      note: 'evictd does not change what it reads. Nearest: `priority` or `requests` in a rule',
    },
    ...ANY,
  },
  continue: { mapping: { settings: ['continue'], becomes: 'nothing: it is always met' }, ...ANY },
  stop: { mapping: { settings: ['stop'], becomes: 'no policy: it is never met' }, args: [], convert: () => ({ isNever: true }) },
};

export const DETECTOR_ROWS: readonly Mapping[] = Object.values(DETECTORS).map(({ mapping }) => mapping);

/** Arguments that a condition does not take in. */
export const ARGUMENT_ROWS: readonly Mapping[] = [
  { settings: ['fast_fall_ratio'], note: 'how fast pressure must fall is not configurable. Nearest: `unless: … falling`' },
  { settings: ['cgroup_fs', 'meminfo_location'], note: 'evictd finds the mounts and /proc itself' },
  { settings: ['debug', 'always'], note: 'evictd logs by level. Nearest: `log: { level: debug }`' },
  { settings: ['ruleset_cgroup'], becomes: 'as `cgroup`, below the cgroup of the ruleset' },
];
