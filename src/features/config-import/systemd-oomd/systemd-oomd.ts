import { basename } from 'node:path';
import type { Report } from '../../../config/value/report.js';
import type { Comparator } from '../../../core/policy/configured-policy.js';
import { countingFiles } from '../../../core/systemd/file-precedence.js';
import { OOMD_DEFAULTS } from '../../../core/systemd/oomd-settings.js';
import type { ImportSource } from '../import-source.js';
import { Mappings, type Mapping, type MigratedEntry, type MigratedPolicy, type Migration, type Note } from '../migration.js';
import { percent, seconds, Values } from '../values.js';
import { separated, type UnitPolicies } from './general-units.js';
import { percentOf, secondsOf } from './systemd-values.js';
import { readUnitFile, type Assignment } from './unit-file.js';
import { unitPlaceOf } from './unit-place.js';
import { inOrder, lastOf, mapBy, rulesOf, unitsOf, type Unit } from './unit-settings.js';

/** The rows of docs/migrating.md. */
export const SYSTEMD_OOMD_ROWS: readonly Mapping[] = [
  {
    settings: ['SwapUsedLimit'],
    becomes: '`memory.available` and `swap.available` below 100 % minus the limit, in units with `ManagedOOMSwap=kill`',
  },
  {
    settings: ['DefaultMemoryPressureLimit'],
    becomes: '`memory.pressure.full.avg10` above it, in units with `ManagedOOMMemoryPressure=kill`',
  },
  { settings: ['DefaultMemoryPressureDurationSec'], becomes: '`for` of that policy' },
  {
    settings: ['PrekillHookTimeoutSec'],
    becomes: '`hooks: { prekill: true }`, unless it is 0',
    note: 'evictd waits for the deadline of `preEvict`, at most 500ms',
  },
  {
    settings: ['ManagedOOMSwap'],
    becomes: '`kill`: a policy with `kill: { by: [swap] }`, and a source of workloads. `auto`: none',
    note:
      'systemd-oomd ends only what uses more than 5 % of all swap, and this policy also what uses less, because a comparator has ' +
      'no minimum. `managedOOM: true` has it',
  },
  {
    settings: ['ManagedOOMMemoryPressure'],
    becomes: '`kill`: a policy with `kill: { by: [pgscan] }`, and a source of workloads. `auto`: none',
    note: 'like systemd-oomd, it requires that the kernel scanned pages within 30 s: `pgscan > 0`',
  },
  { settings: ['ManagedOOMMemoryPressureLimit'], becomes: 'the limit of that unit' },
  { settings: ['ManagedOOMMemoryPressureDurationSec'], becomes: '`for` of that unit' },
  { settings: ['ManagedOOMPreference'], becomes: 'nothing to write: evictd honours `omit` and `avoid` of the unit itself' },
  { settings: ['OOMRules'], becomes: 'a policy for each rule, in the scope of the unit' },
  { settings: ['MemoryPressureAbove'], becomes: '`memory.pressure.full.avg10` above it' },
  { settings: ['SwapUsageMax'], becomes: '`swap.available` below 100 % minus the limit' },
  { settings: ['LastingSec'], becomes: '`for`' },
  {
    settings: ['Action'],
    becomes: '`kill-by-pgscan` and `kill-by-swap`: `kill` with that comparator',
    note:
      '`kill-all` ends the whole unit; evictd ends one workload of the scope after the other while the condition holds. ' +
      '`kill-by-swap` also ends what uses 5 % of all swap or less',
  },
];

const MAPPINGS = new Mappings(SYSTEMD_OOMD_ROWS);

const REMARKS = [
  'systemd-oomd acts in units with ManagedOOMSwap=, ManagedOOMMemoryPressure= or OOMRules=: each of them is a policy ' +
    'with its cgroup as the scope. Give evictd config import the drop-ins of all units that have them.',
  'evictd can also take these settings from systemd while it runs. Then nothing of this file is needed but (docs/systemd-oomd.md):',
  'workloads: [{ systemd: { managedOOM: true } }]',
];

/** systemd-oomd's defaults (oomd.conf(5)), and its fixed times. */
const SWAP_USED_PERCENT = OOMD_DEFAULTS.swapUsedLimit * 100;
const PRESSURE_PERCENT = OOMD_DEFAULTS.pressureLimit * 100;
const PRESSURE_SECONDS = Number(OOMD_DEFAULTS.pressureDurationNs) / 1e9;
const AFTER_KILL = '15s';
const RECLAIMED = 'pgscan > 0 over 30s';

/** Converts oomd.conf, rulesets (.oomrule) and unit files with ManagedOOM settings. What is wrong goes into the report. */
export function convertSystemdOomd(sources: readonly ImportSource[], report: Report): Migration {
  const files = sources.map((source) => ({ file: source.file, assignments: readUnitFile(source, report) }));
  return new Conversion(files, new Values(report)).migration();
}

interface SettingsFile {
  readonly file: string;
  readonly assignments: readonly Assignment[];
}

interface Rule {
  readonly settings: ReadonlyMap<string, Assignment>;
  readonly notes: readonly Note[];
}

const UNIT_SECTIONS = ['Slice', 'Service', 'Scope'];

class Conversion {
  readonly #oom: ReadonlyMap<string, Assignment>;
  readonly #rules: ReadonlyMap<string, Rule>;
  readonly #units: readonly Unit[];
  readonly #policies: UnitPolicies;
  readonly #rest: Note[];

  constructor(
    all: readonly SettingsFile[],
    private readonly values: Values,
  ) {
    const { counting: files, masked } = countingFiles(all);
    const assignments = files.flatMap((file) => file.assignments);
    const oom = inOrder(files).flatMap((file) => file.assignments.filter(({ section }) => section === 'OOM'));
    const rules = assignments.filter(({ section }) => section === 'Rule');
    const unitFiles = files.flatMap(({ file, assignments: all }) => {
      const place = unitPlaceOf(file);
      return place === undefined ? [] : [{ file, place, assignments: all.filter(({ section }) => UNIT_SECTIONS.includes(section)) }];
    });
    const ofUnits = unitFiles.flatMap((file) => file.assignments);
    this.#oom = lastOf(oom);
    this.#rules = mapBy(
      rules,
      ({ file }) => basename(file).replace(/\.oomrule$/, ''),
      (own) => ({ settings: lastOf(own), notes: own.map(noteOf) }),
    );
    this.#units = unitsOf(unitFiles);
    this.#policies = separated(new Map(this.#units.map((unit) => [unit, this.#unitPolicies(unit)])));
    const others = assignments.filter((each) => ![...oom, ...rules, ...ofUnits].includes(each));
    this.#rest = [
      ...oom.map(noteOf),
      ...others.map((each) => ({ ...noteOf(each), text: OTHER_SECTION })),
      ...masked.flatMap(({ file, by }) =>
        file.assignments.map((each) => ({ ...noteOf(each), text: `does not count: ${by.file} has the same name` })),
      ),
    ];
  }

  migration(): Migration {
    const policies = [...this.#policies.values()].flat();
    const used = this.#units.flatMap(({ settings }) => rulesOf(settings));
    const rules = [...this.#rules].flatMap(([name, rule]) => this.#idleRule(rule, used.includes(name)));
    const missing = this.#units.flatMap((unit) => this.#missingRules(unit));
    const rest = [...this.#rest, ...rules, ...missing];
    return {
      remarks: REMARKS,
      settings: this.#hooks(),
      workloads: this.#workloads(),
      rules: [],
      policies,
      rest: [...rest, ...this.#idleUnits()],
    };
  }

  #hooks(): MigratedEntry[] {
    const timeout = this.#oom.get('PrekillHookTimeoutSec');
    const isCalled = timeout !== undefined && secondsOf(timeout, this.values) > 0;
    return isCalled ? [{ notes: [], value: { hooks: { prekill: true } } }] : [];
  }

  #unitPolicies(unit: Unit): MigratedPolicy[] {
    const { place, settings } = unit;
    const scope = place.scope === undefined ? {} : { scope: place.scope };
    const own = [
      ...(settings.get('ManagedOOMMemoryPressure')?.value === 'kill' ? this.#pressurePolicy(unit) : []),
      ...(settings.get('ManagedOOMSwap')?.value === 'kill' ? this.#swapPolicy(unit) : []),
      ...rulesOf(settings).flatMap((name) => {
        const rule = this.#rules.get(name);
        return rule === undefined ? [] : this.#rulePolicy(`${place.unit} ${name}`, rule);
      }),
    ];
    return own.map((policy, index) => ({ ...policy, ...scope, notes: [...(index === 0 ? unit.own.map(noteOf) : []), ...policy.notes] }));
  }

  #pressurePolicy({ place, settings }: Unit): MigratedPolicy[] {
    const limit = settings.get('ManagedOOMMemoryPressureLimit') ?? this.#oom.get('DefaultMemoryPressureLimit');
    const duration = settings.get('ManagedOOMMemoryPressureDurationSec') ?? this.#oom.get('DefaultMemoryPressureDurationSec');
    // 0 is the default, as no setting is: systemd.resource-control(5), oomd.conf(5).
    const above = limit === undefined ? 0 : percentOf(limit, this.values);
    const lasting = duration === undefined ? 0 : secondsOf(duration, this.values);
    const conditions = this.#conditions({ pressure: above === 0 ? PRESSURE_PERCENT : above });
    const policy = {
      title: `${place.unit} memory pressure`,
      notes: [],
      when: [...conditions, RECLAIMED].join(' & '),
      for: seconds(lasting === 0 ? PRESSURE_SECONDS : lasting),
      cooldown: AFTER_KILL,
      then: [{ kill: { by: ['pgscan' as const] } }],
    };
    return conditions.length === 0 ? [] : [policy];
  }

  #swapPolicy({ place }: Unit): MigratedPolicy[] {
    const limit = this.#oom.get('SwapUsedLimit');
    const used = limit === undefined ? SWAP_USED_PERCENT : percentOf(limit, this.values);
    const conditions = this.#conditions({ swap: used });
    const when = [`memory.available < ${percent(100 - used)}`, ...conditions].join(' & ');
    const policy = { title: `${place.unit} swap`, notes: [], when, cooldown: AFTER_KILL, then: [{ kill: { by: ['swap' as const] } }] };
    return conditions.length === 0 ? [] : [policy];
  }

  /** systemd-oomd ignores a rule without an action. One without conditions, or with one that is never met, is not a policy. */
  #rulePolicy(title: string, { settings, notes }: Rule): MigratedPolicy[] {
    const [pressure, swap, lasting, action] = ['MemoryPressureAbove', 'SwapUsageMax', 'LastingSec', 'Action'].map((key) =>
      settings.get(key),
    );
    const conditions = this.#conditions({
      ...(pressure && { pressure: percentOf(pressure, this.values) }),
      ...(swap && { swap: percentOf(swap, this.values) }),
    });
    const duration = lasting === undefined ? 0 : secondsOf(lasting, this.values);
    if (action === undefined || conditions.length === 0) return [];
    const then = [{ kill: this.#kill(action) }];
    return [{ title, notes, when: conditions.join(' & '), ...(duration > 0 && { for: seconds(duration) }), then }];
  }

  /** Conditions of limits in percent; none: one of them is 100, which nothing exceeds. */
  #conditions({ pressure, swap }: { readonly pressure?: number; readonly swap?: number }): string[] {
    if (pressure === 100 || swap === 100) return [];
    return [
      ...(pressure === undefined ? [] : [`memory.pressure.full.avg10 > ${percent(pressure)}`]),
      ...(swap === undefined ? [] : [`swap.available < ${percent(100 - swap)}`]),
    ];
  }

  #kill({ key, value: text, position }: Assignment): { readonly by?: readonly Comparator[] } {
    const choices = ['kill-all', 'kill-by-pgscan', 'kill-by-swap'] as const;
    const kills = { 'kill-all': {}, 'kill-by-pgscan': { by: ['pgscan'] }, 'kill-by-swap': { by: ['swap'] } } as const;
    return kills[this.values.oneOf({ text, position }, `${key}=`, choices)];
  }

  #workloads(): MigratedEntry[] {
    const acting = this.#units.filter((unit) => !this.#isIdle(unit));
    const sourceOf = ({ place }: Unit): string => JSON.stringify(place.source);
    const entries = mapBy(acting, sourceOf, (units) => ({ notes: units.flatMap(sourceNotes), value: units[0]?.place.source ?? {} }));
    return [...entries.values()];
  }

  #missingRules({ settings, own }: Unit): Note[] {
    const assignment = settings.get('OOMRules');
    const missing = rulesOf(settings).filter((name) => !this.#rules.has(name));
    // What comes from a drop-in of a more general unit has its note there.
    if (assignment === undefined || !own.some(({ position }) => position === assignment.position)) return [];
    return missing.map((name) => ({
      ...noteOf(assignment),
      text: `no policy for ${name}: add ${name}.oomrule to the files that are converted`,
    }));
  }

  /** The notes of a rule that became no policy. */
  #idleRule(rule: Rule, isUsed: boolean): Note[] {
    if (isUsed && this.#rulePolicy('', rule).length > 0) return [];
    return rule.notes.map((note) => ({ ...note, text: isUsed ? IDLE_RULE : UNUSED_RULE }));
  }

  #idleUnits(): Note[] {
    return this.#units.filter((unit) => this.#isIdle(unit)).flatMap(({ own }) => own.map(noteOf));
  }

  #isIdle(unit: Unit): boolean {
    return this.#policies.get(unit)?.length === 0;
  }
}

const OTHER_SECTION = "stays as it is: systemd's, not systemd-oomd's; evictd changes no unit";

const IDLE_RULE = 'no policy: this rule has no Action=, no condition, or one that is never met';

const UNUSED_RULE = 'no policy: no unit among the files has OOMRules= with this rule';

/** Notes about the setting that makes the unit one of systemd-oomd. */
function sourceNotes({ own }: Unit): Note[] {
  const note = own.map(noteOf).find(({ text }) => text !== OTHER_SECTION);
  return note === undefined ? [] : [{ ...note, text: 'its workloads' }];
}

function noteOf(assignment: Assignment): Note {
  const { key, value, position, section } = assignment;
  const setting = `${key}=${value}`;
  const isOther = UNIT_SECTIONS.includes(section) && !MAPPINGS.has(key);
  return isOther ? { setting, position, text: OTHER_SECTION } : MAPPINGS.note(key, setting, position);
}
