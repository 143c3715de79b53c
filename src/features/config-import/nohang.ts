import type { Report } from '../../config/value/report.js';
import type { Comparator } from '../../core/policy/configured-policy.js';
import type { ImportSource } from './import-source.js';
import {
  Mappings,
  type Mapping,
  type MigratedEntry,
  type MigratedPolicy,
  type MigratedStep,
  type Migration,
  type Note,
} from './migration.js';
import { readNohangFile, type NohangLine } from './nohang-file.js';
import { isPositive, lowMemory, NEXT_VICTIM, NO_REST, NO_WORKLOADS, type Least } from './process-killer.js';
import { shellWords, wordOf } from './shell-words.js';
import { DAY_SECONDS, HOUR_SECONDS, percent, seconds, Values } from './values.js';

const thresholds = (name: string): readonly string[] => ['warning', 'soft', 'hard'].map((level) => `${level}_threshold_${name}`);

const BY_NAME =
  'evictd never chooses by the name, program, arguments or user of a process. Nearest: a rule for its unit or cgroup with a `priority`';

/** The rows of docs/migrating.md. */
export const NOHANG_ROWS: readonly Mapping[] = [
  {
    settings: [...thresholds('min_mem'), ...thresholds('min_swap')],
    becomes: '`memory.available` and `swap.available` at most this: `notify`, `stop`, `kill`',
  },
  {
    settings: [...thresholds('max_psi')],
    becomes:
      '`memory.pressure` at least this, where swap exists and `memory.available` is at most `min_mem`: `notify`, `stop`, `kill`; ' +
      'nothing without `psi_checking_enabled`',
  },
  {
    settings: [...thresholds('max_zram'), 'zram_checking_enabled'],
    note: 'evictd has no signal of zram. Nearest: `swap.available` and pressure',
  },
  {
    settings: ['psi_checking_enabled', 'psi_metrics', 'psi_excess_duration', 'psi_post_action_delay'],
    becomes: 'the policies on pressure: metric, `for`, `cooldown`',
  },
  { settings: ['psi_path'], becomes: '`scope` for the file of a cgroup', note: 'a file of something else than memory: only `notify`' },
  { settings: ['low_memory_warnings_enabled', 'min_post_warning_delay'], becomes: 'a policy with the step `notify`, and its `cooldown`' },
  { settings: ['warning_exe'], becomes: 'the step `run` instead of `notify`', note: 'its program must be an absolute path' },
  {
    settings: ['post_action_gui_notifications'],
    becomes: '`notifications: { desktop: true }`',
    note: 'it reaches the user whose unit was ended',
  },
  { settings: ['max_soft_exit_time'], becomes: 'the `grace` of `stop`' },
  { settings: ['post_soft_action_delay'], becomes: 'the `cooldown` of the policy with `stop`' },
  {
    settings: ['post_kill_exe', 'exe_timeout'],
    becomes: '`hooks: { postEvict: { command: […], timeout: … } }`',
    note: 'its program must be an absolute path and belong to root; evictd does not replace placeholders of nohang in it',
  },
  {
    settings: ['@BADNESS_ADJ_RE_CGROUP_V1', '@BADNESS_ADJ_RE_CGROUP_V2'],
    becomes: 'a rule with the path and the opposite `priority`',
    note: 'a priority decides before oom_score, an adjustment is added to it',
  },
  { settings: ['NAME', 'CMDLINE', 'REALPATH', 'CWD', 'UID', 'ENVIRON'].map((kind) => `@BADNESS_ADJ_RE_${kind}`), note: BY_NAME },
  {
    settings: ['NAME', 'CGROUP_V1', 'CGROUP_V2'].map((kind) => `@SOFT_ACTION_RE_${kind}`),
    note: 'a step does not depend on the victim. Nearest: a policy with `scope` and `run`',
  },
  {
    settings: ['ignore_positive_oom_score_adj', 'min_badness', 'forbid_negative_badness'],
    note: 'evictd uses the oom_score of the kernel',
  },
  {
    settings: ['fill_rate_mem', 'fill_rate_swap', 'fill_rate_zram', 'max_sleep', 'min_sleep', 'over_sleep'],
    note: "evictd waits for the kernel's events",
  },
  { settings: ['post_zombie_delay', 'victim_cache_time', 'env_cache_time'], note: 'evictd follows its victims by pidfd and cgroup' },
  {
    settings: [
      ...['print_config_at_startup', 'print_mem_check_results', 'min_mem_report_interval', 'print_proc_table', 'extra_table_info'],
      ...['print_victim_status', 'print_victim_cmdline', 'max_victim_ancestry_depth', 'print_statistics', 'hide_corrective_action_type'],
      ...['debug_psi', 'debug_gui_notifications', 'debug_sleep', 'debug_threading', 'separate_log', '@check_kmsg', '@debug_kmsg'],
    ],
    note: 'evictd has a journal and metrics. Nearest: `log: { level: debug }`',
  },
];

const MAPPINGS = new Mappings(NOHANG_ROWS);

const REMARKS = [
  'These policies end the process with the highest oom_score, as nohang does with its badness, but only one of a configured ' +
    'workload. evictd keeps its own threshold of evictionHard memory.available, which overtakes these policies and ends a workload.',
  NEXT_VICTIM,
  ...NO_WORKLOADS,
];

export function convertNohang([source]: readonly ImportSource[], report: Report): Migration {
  const lines = source === undefined ? [] : readNohangFile(source, report);
  if (source !== undefined && lines.length === 0 && report.issues.length === 0) {
    report.issue(
      'EVICTD_IMPORT_SYNTAX',
      'no setting',
      { file: source.file, line: 1, column: 1 },
      'name a configuration of nohang: nohang.conf',
    );
  }
  return new Conversion(lines, new Values(report)).migration();
}

type Level = 'warning' | 'soft' | 'hard';

class Conversion {
  readonly #settings: ReadonlyMap<string, NohangLine>;
  readonly #by: readonly Comparator[];
  readonly #rules: readonly MigratedEntry[];

  constructor(
    private readonly lines: readonly NohangLine[],
    private readonly values: Values,
  ) {
    this.#settings = new Map(lines.map((line) => [line.key, line]));
    this.#rules = lines.flatMap((line) => this.#rule(line));
    this.#by = this.#rules.length > 0 ? ['priority', 'oom_score'] : ['oom_score'];
  }

  migration(): Migration {
    const ruled = this.#rules.flatMap(({ notes }) => notes.map(({ position }) => position));
    const others = this.lines.filter(({ position }) => !ruled.includes(position));
    const [first, ...more] = (['warning', 'soft', 'hard'] as const).flatMap((level) => [...this.#memory(level), ...this.#pressure(level)]);
    const above = first === undefined ? [] : others.filter(({ key }) => MAPPINGS.hasCounterpart(key) && !key.startsWith('@'));
    const policies = first === undefined ? [] : [{ ...first, notes: above.map((line) => this.#note(line)) }, ...more];
    const rest = others.filter((line) => !above.includes(line)).map((line) => this.#note(line));
    return { remarks: REMARKS, settings: this.#evictions(), workloads: [], rules: this.#rules, policies, rest };
  }

  #note({ key, line, position }: NohangLine): Note {
    const note = MAPPINGS.note(key, line, position);
    if (/^(?:warning_|min_post_warning_delay|low_memory_warnings_enabled)/.test(key) && !this.#isWanted('warning')) {
      return { ...note, text: NO_WARNINGS };
    }
    const [, level] = /^(soft|hard|warning)_threshold_max_psi$/.exec(key) ?? [];
    if (level !== undefined && this.#gate(level as Level) === undefined) {
      return { ...note, text: `no policy: nohang acts on pressure only at or below ${level}_threshold_min_mem, which is not above 0` };
    }
    if (key === 'psi_path' && this.#pressureFile() === undefined) return { ...note, text: NO_MEMORY_PRESSURE };
    return key.startsWith('@BADNESS_ADJ_RE_CGROUP') ? { ...note, text: NO_GLOB } : note;
  }

  #memory(level: Level): MigratedPolicy[] {
    const [memory, swap] = ['min_mem', 'min_swap'].map((what) => this.#least(`${level}_threshold_${what}`));
    if (memory === undefined || !isPositive(memory) || !this.#isWanted(level)) return [];
    const when = lowMemory([memory], swap === undefined ? [] : [swap]);
    if (when === undefined) return [];
    // nohang rests only behind SIGTERM.
    const rest = level === 'hard' ? { cooldown: NO_REST } : {};
    return [{ title: `nohang ${level} memory`, notes: [], when, ...rest, ...this.#ending(level) }];
  }

  #pressure(level: Level): MigratedPolicy[] {
    const limit = this.#number(`${level}_threshold_max_psi`, 100);
    if (limit === undefined || limit === 0 || limit >= 100 || !this.#isTrue('psi_checking_enabled') || !this.#isWanted(level)) return [];
    const gate = this.#gate(level);
    if (gate === undefined) return [];
    const file = this.#pressureFile();
    const metrics = this.#settings.get('psi_metrics');
    const metric = metrics === undefined ? 'some_avg10' : this.values.oneOf(metrics, 'psi_metrics', PSI_METRICS);
    const excess = level === 'warning' ? undefined : this.#number('psi_excess_duration', HOUR_SECONDS);
    const delay = level === 'warning' ? undefined : this.#number('psi_post_action_delay', DAY_SECONDS);
    return [
      {
        title: `nohang ${level} pressure`,
        notes: [],
        ...(file?.cgroup !== undefined && { scope: file.cgroup }),
        when: [`memory.pressure.${metric.replace('_', '.')} >= ${percent(limit)}`, ...gate].join(' & '),
        ...this.#ending(level),
        ...(file === undefined && { then: ['notify'] }),
        ...(excess !== undefined && excess > 0 && { for: seconds(excess) }),
        ...(delay !== undefined && { cooldown: seconds(delay) }),
      },
    ];
  }

  #ending(level: Level): Pick<MigratedPolicy, 'cooldown' | 'then'> {
    if (level === 'warning') {
      const delay = this.#number('min_post_warning_delay', DAY_SECONDS);
      return { then: [this.#warning()], ...(delay !== undefined && { cooldown: seconds(delay) }) };
    }
    if (level === 'hard') return { then: [{ kill: { by: this.#by, unit: 'process' } }] };
    const delay = this.#number('post_soft_action_delay', DAY_SECONDS);
    const grace = seconds(this.#number('max_soft_exit_time', HOUR_SECONDS) ?? 10);
    return { then: [{ stop: { grace, by: this.#by, unit: 'process' } }], ...(delay !== undefined && { cooldown: seconds(delay) }) };
  }

  #warning(): MigratedStep {
    const command = this.#command('warning_exe');
    return command === undefined ? 'notify' : { run: command };
  }

  /** What happens at every eviction. */
  #evictions(): readonly MigratedEntry[] {
    const command = this.#command('post_kill_exe');
    const timeout = this.#number('exe_timeout', HOUR_SECONDS);
    const postEvict = { command, ...(timeout !== undefined && { timeout: seconds(Math.min(Math.max(timeout, 1), HOOK_SECONDS)) }) };
    const settings = {
      ...(command !== undefined && { hooks: { postEvict } }),
      ...(this.#isTrue('post_action_gui_notifications') && { notifications: { desktop: true } }),
    };
    return Object.keys(settings).length === 0 ? [] : [{ notes: [], value: settings }];
  }

  /** Undefined: none, or its program is not an absolute path. */
  #command(key: string): readonly string[] | undefined {
    const words = shellWords(wordOf(this.#settings.get(key)?.text ?? ''), false);
    const command = 'quote' in words ? [] : words.map(({ text }) => text);
    return command[0]?.startsWith('/') === true ? command : undefined;
  }

  /** What nohang requires beside pressure: little memory, and swap. Undefined: the level never acts on pressure. */
  #gate(level: Level): readonly string[] | undefined {
    const memory = this.#least(`${level}_threshold_min_mem`);
    if (memory === undefined || !isPositive(memory)) return undefined;
    return [lowMemory([memory], []) ?? [], 'swap.available exists'].flat();
  }

  /** `/sys/fs/cgroup/unified/user.slice/memory.pressure`; the machine without a cgroup. Undefined: not pressure of memory. */
  #pressureFile(): { readonly cgroup?: string } | undefined {
    const path = this.#settings.get('psi_path')?.text ?? MACHINE_PRESSURE;
    const [found, cgroup] = /^\/sys\/fs\/cgroup(?:\/unified)?(\/.+)?\/memory\.pressure$/.exec(path) ?? [];
    if (found === undefined && path !== MACHINE_PRESSURE) return undefined;
    return cgroup === undefined ? {} : { cgroup };
  }

  #isWanted(level: Level): boolean {
    return level !== 'warning' || this.#isTrue('low_memory_warnings_enabled');
  }

  #isTrue(key: string): boolean {
    const line = this.#settings.get(key);
    return line !== undefined && this.values.oneOf(line, key, ['True', 'False']) === 'True';
  }

  #number(key: string, most: number): number | undefined {
    const line = this.#settings.get(key);
    return line && this.values.number(line, key, most);
  }

  /** `5 %`, `300 M` (MiB). */
  #least(key: string): Least | undefined {
    const line = this.#settings.get(key);
    if (line === undefined) return undefined;
    const [, digits, unit] = /^(\d+(?:\.\d+)?)\s*([%M])$/.exec(line.text) ?? [];
    if (digits === undefined) return this.values.refuse<Least>(line, 'a percentage (5 %) or MiB (300 M)', key, { percent: 0 });
    return unit === '%' ? { percent: Number(digits) } : { bytes: Math.round(Number(digits) * 1024 ** 2) };
  }

  /** `100 /// ^/workload`: more badness is less priority. */
  #rule(line: NohangLine): MigratedEntry[] {
    const [, adjustment, pattern = ''] = /^([+-]?\d+)\s*\/\/\/\s*(.*)$/.exec(line.text) ?? [];
    if (line.key.startsWith('@BADNESS') && adjustment === undefined) {
      this.values.refuse(line, 'ADJUSTMENT /// REGULAR EXPRESSION', line.key, undefined);
    }
    const path = globOf(pattern);
    if (!line.key.startsWith('@BADNESS_ADJ_RE_CGROUP') || path === undefined) return [];
    return [{ notes: [MAPPINGS.note(line.key, line.line, line.position)], value: { match: { path }, priority: -Number(adjustment) || 0 } }];
  }
}

/** The longest timeout of a hook. */
const HOOK_SECONDS = 600;

const PSI_METRICS = ['some_avg10', 'some_avg60', 'some_avg300', 'full_avg10', 'full_avg60', 'full_avg300'] as const;

/** nohang's default of psi_path. */
const MACHINE_PRESSURE = '/proc/pressure/memory';

const NO_MEMORY_PRESSURE =
  'no counterpart: this is not the memory.pressure of a cgroup or of the machine. The policies on pressure judge the memory pressure of ' +
  'the machine instead, so they have only the step `notify`';

const NO_WARNINGS = 'nothing: `low_memory_warnings_enabled` is not True';

const NO_GLOB = 'no counterpart: this regular expression is not a pattern of a path. Nearest: a rule with `path` and `priority`';

/** A regular expression of plain letters, `\.`, `.`, `^` and `$` as a pattern of a rule; undefined: it has more. */
function globOf(pattern: string): string | undefined {
  const [, begin, middle = '', end] = /^(\^?)(.*?)(\$?)$/.exec(pattern) ?? [];
  if (middle === '' || !/^(?:[\w/@:-]|\\\.|\\-|\.)+$/.test(middle)) return undefined;
  const text = middle.replace(/\\(.)|\./g, (_dot, letter: string | undefined) => letter ?? '?');
  return `${begin === '^' ? '' : '**'}${text}${end === '$' ? '' : '**'}`;
}
