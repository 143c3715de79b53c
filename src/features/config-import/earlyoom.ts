import type { Report } from '../../config/value/report.js';
import type { Comparator } from '../../core/policy/configured-policy.js';
import type { SourcePosition } from '../../errors.js';
import { positionsOf, type ImportSource } from './import-source.js';
import {
  Mappings,
  type Mapping,
  type MigratedEntry,
  type MigratedPolicy,
  type MigratedStep,
  type Migration,
  type Note,
} from './migration.js';
import { isPositive, lowMemory, NEXT_VICTIM, NO_REST, NO_WORKLOADS, type Least } from './process-killer.js';
import { shellWords, wordOf, type Word } from './shell-words.js';
import { HOUR_SECONDS, seconds, Values, type Written } from './values.js';

interface OptionRow extends Mapping {
  readonly takesValue?: true;
}

const BY_NAME = 'evictd never chooses by the name of a process. Nearest: a rule for its unit or cgroup';

const HOOK = 'its environment has other variables (docs/hooks.md), and it must belong to root';

const OPTIONS: readonly OptionRow[] = [
  {
    settings: ['-m'],
    takesValue: true,
    becomes: '`memory.available` at most this: `stop` at the first value, `kill` at the second',
    note: 'a percentage of the memory of the machine; earlyoom 1.8 takes MemAvailable + AnonPages',
  },
  { settings: ['-M'], takesValue: true, becomes: 'as `-m`, in bytes; with `-m` both must be met, so that the lower one decides' },
  { settings: ['-s'], takesValue: true, becomes: '`swap.available` at most this; left out at 100' },
  { settings: ['-S'], takesValue: true, becomes: 'as `-s`, in bytes' },
  {
    settings: ['-w'],
    takesValue: true,
    becomes: 'the `grace` of `stop`',
    note: 'after it evictd sends SIGKILL, earlyoom the next SIGTERM',
  },
  { settings: ['-n'], becomes: '`notifications: { desktop: true }`', note: 'it reaches the user whose unit was ended' },
  { settings: ['-N'], takesValue: true, becomes: '`hooks: { postEvict: [PROGRAM] }`', note: HOOK },
  { settings: ['-P'], takesValue: true, becomes: '`hooks: { preEvict: [PROGRAM] }`', note: HOOK },
  { settings: ['-g'], note: 'evictd ends one process, or a unit or cgroup, not a process group. Nearest: `kill` without `unit: process`' },
  {
    settings: ['--prefer', '--avoid', '--ignore'],
    takesValue: true,
    note: `${BY_NAME}: \`priority\` below or above 0, or \`critical: true\``,
  },
  {
    settings: ['--ignore-root-user'],
    note: 'evictd does not consider the user of a process. Nearest: name only `user.slice` in `workloads`',
  },
  { settings: ['--sort-by-rss'], becomes: '`by: [size]` instead of `by: [oom_score]`' },
  {
    settings: ['--dryrun'],
    becomes: 'the step `notify` instead of `stop` and `kill`',
    note: 'evictd has a dry run for the whole configuration: `evictd run --dry-run`',
  },
  { settings: ['-d', '--debug'], becomes: '`log: { level: debug }`' },
  { settings: ['-r'], takesValue: true, note: "it prints what is available. Nearest: evictd's metrics" },
  { settings: ['-p'], note: "evictd's service unit has an oom_score_adj and a priority of its own" },
  { settings: ['--syslog'], note: 'evictd writes to standard error, which systemd takes. Nearest: `log: { format: systemd }`' },
  { settings: ['-k', '-i'], note: 'newer versions of earlyoom ignore it' },
  { settings: ['-v', '-h', '--help'], note: 'it only prints information' },
];

/** The rows of docs/migrating.md. */
export const EARLYOOM_ROWS: readonly Mapping[] = OPTIONS;

const MAPPINGS = new Mappings(OPTIONS);

/** earlyoom's defaults: 10 % of each, half of it for SIGKILL, 10 s. */
const PERCENT = 10;
const EXIT_SECONDS = 10;

const REMARKS = [
  'These policies end the process with the highest oom_score, or with --sort-by-rss the largest, as earlyoom does, but only ' +
    'one of a configured workload. ' +
    'evictd keeps its own threshold of evictionHard memory.available, which overtakes these policies and ends a workload.',
  NEXT_VICTIM,
  ...NO_WORKLOADS,
];

/** Converts arguments of earlyoom, or a file with `EARLYOOM_ARGS=`. What is wrong goes into the report. */
export function convertEarlyoom([source]: readonly ImportSource[], report: Report): Migration {
  const empty: Migration = { remarks: REMARKS, settings: [], workloads: [], rules: [], policies: [], rest: [] };
  if (source === undefined) return empty;
  const at = positionsOf(source);
  const words = isFile(source) ? argumentsOf(source, at, report) : split(wordOf(source.text), at, report, false);
  const given = readOptions(words.words, at, report);
  const options = new Map(given.map((option) => [option.name, option]));
  const notes = [...words.notes, ...given.map(({ name, text, position }) => MAPPINGS.note(name, `${name} ${text}`.trimEnd(), position))];
  return { ...empty, ...convert(options, notes, new Values(report)) };
}

/** An argument begins with an option or is empty; everything else is the contents of a file. */
function isFile({ text }: ImportSource): boolean {
  return text.trim() !== '' && !text.trim().startsWith('-');
}

interface Words {
  readonly words: readonly Word[];
  readonly notes: readonly Note[];
}

function split(word: Word, at: (offset: number) => SourcePosition, report: Report, comments: boolean): Words {
  const words = shellWords(word, comments);
  if (!('quote' in words)) return { words, notes: [] };
  report.issue('EVICTD_IMPORT_SYNTAX', `this ${words.quote} has no end`, at(words.offset), 'close the quote');
  return { words: [], notes: [] };
}

/** The words of EARLYOOM_ARGS in a file of assignments (/etc/default/earlyoom); the last one counts. */
function argumentsOf({ text }: ImportSource, at: (offset: number) => SourcePosition, report: Report): Words {
  const notes: Note[] = [];
  let found: Words | undefined;
  for (const word of split(wordOf(text), at, report, true).words) {
    const [, name, value = ''] = /^([A-Za-z_]\w*)=([^]*)$/.exec(word.text) ?? [];
    const position = at(word.offsets[0] ?? 0);
    if (name === undefined) {
      const hint = "give the arguments as one text ('-m 5 -s 10'), or the file that has EARLYOOM_ARGS=";
      report.issue('EVICTD_IMPORT_SYNTAX', `not an assignment: ${JSON.stringify(word.text)}`, position, hint);
    } else if (name === 'EARLYOOM_ARGS') {
      found = split({ text: value, offsets: word.offsets.slice(name.length + 1) }, at, report, false);
    } else notes.push({ setting: word.text, position, text: 'no counterpart: not a variable of earlyoom' });
  }
  if (found === undefined && report.issues.length === 0) {
    report.issue('EVICTD_IMPORT_SYNTAX', 'EARLYOOM_ARGS is not set', at(0), 'name the file of the service: /etc/default/earlyoom');
  }
  return { words: found?.words ?? [], notes };
}

interface GivenOption extends Written {
  readonly name: string;
}

/** Reads options like getopt_long: `-m 5`, `-m5`, `-np`, `--avoid X`, `--avoid=X`. The position is that of the value. */
function readOptions(words: readonly Word[], at: (offset: number) => SourcePosition, report: Report): GivenOption[] {
  const given: GivenOption[] = [];
  let index = 0;
  const place = (word: Word | undefined, letter = 0): SourcePosition => at(word?.offsets[letter] ?? 0);
  const valueOf = (name: string, word: Word, attached: number): void => {
    const hasValue = attached < word.text.length;
    if (!hasValue) index += 1;
    const value = hasValue ? word : words[index];
    if (value === undefined) report.issue('EVICTD_IMPORT_VALUE', `${name} has no value`, place(word), `write ${name} VALUE`);
    else given.push({ name, text: value.text.slice(hasValue ? attached : 0), position: place(value, hasValue ? attached : 0) });
  };
  for (; index < words.length; index++) {
    const word = words[index];
    if (word === undefined) break;
    const [, long, equals] = /^(--[a-z-]+)(=)?/.exec(word.text) ?? [];
    const names = long === undefined ? Array.from(word.text.slice(1), (letter) => `-${letter}`) : [long];
    if (!/^-./.test(word.text))
      report.issue('EVICTD_IMPORT_OPTION', `not an option: ${JSON.stringify(word.text)}`, place(word), OPTION_HINT);
    else {
      for (const [letter, name] of names.entries()) {
        const row = OPTIONS.find(({ settings }) => settings.includes(name));
        const rest = long === undefined ? letter + 2 : long.length + (equals === undefined ? 0 : 1);
        if (row === undefined) report.issue('EVICTD_IMPORT_OPTION', `not an option of earlyoom: ${name}`, place(word), OPTION_HINT);
        else if (row.takesValue !== true) given.push({ name, text: '', position: place(word) });
        if (row?.takesValue === true) valueOf(name, word, rest);
        if (row === undefined || row.takesValue === true) break;
      }
    }
  }
  return given;
}

const OPTION_HINT = 'earlyoom(1) has the list; quote a regular expression with white space';

function convert(
  options: ReadonlyMap<string, Written>,
  notes: readonly Note[],
  values: Values,
): Pick<Migration, 'settings' | 'policies' | 'rest'> {
  const memories = leastsOf(options.get('-m'), options.get('-M'), values);
  const swaps = leastsOf(options.get('-s'), options.get('-S'), values);
  const [stopWhen, killWhen] = ([0, 1] as const).map((which) => {
    const [memory, swap] = [memories, swaps].map((leasts) => leasts.map((pair) => pair[which]));
    return lowMemory(memory ?? [], swap ?? []);
  });
  const by: readonly Comparator[] = options.has('--sort-by-rss') ? ['size'] : ['oom_score'];
  const wait = options.get('-w');
  const grace = seconds(wait === undefined ? EXIT_SECONDS : values.number(wait, '-w', HOUR_SECONDS));
  const ladder = (step: MigratedStep): readonly MigratedStep[] => (options.has('--dryrun') ? ['notify'] : [step]);
  const kills = ladder({ kill: { by, unit: 'process' } });
  const stops = ladder({ stop: { grace, by, unit: 'process' } });
  // With the same values earlyoom sends SIGKILL only.
  const wanted = [
    ...(stopWhen === undefined || stopWhen === killWhen ? [] : [{ title: 'earlyoom SIGTERM', when: stopWhen, then: stops }]),
    ...(killWhen === undefined || !memories.every(([, kill]) => isPositive(kill))
      ? []
      : [{ title: 'earlyoom SIGKILL', when: killWhen, then: kills }]),
  ];
  const rest = options.has('--dryrun') ? {} : { cooldown: NO_REST };
  const policies: MigratedPolicy[] = wanted.map((policy, index) => ({ ...policy, ...rest, notes: index === 0 ? notes : [] }));
  return { settings: settingsOf(options, values), policies, rest: policies.length === 0 ? notes : [] };
}

function settingsOf(options: ReadonlyMap<string, Written>, values: Values): readonly MigratedEntry[] {
  const hook = (option: string): readonly string[] | undefined => {
    const program = options.get(option);
    if (program === undefined) return undefined;
    return program.text.startsWith('/') ? [program.text] : values.refuse(program, 'an absolute path', option, []);
  };
  const [preEvict, postEvict] = [hook('-P'), hook('-N')];
  const hooks = { ...(preEvict && { preEvict }), ...(postEvict && { postEvict }) };
  const settings = {
    ...((options.has('-d') || options.has('--debug')) && { log: { level: 'debug' } }),
    ...(Object.keys(hooks).length > 0 && { hooks }),
    ...(options.has('-n') && { notifications: { desktop: true } }),
  };
  return Object.keys(settings).length === 0 ? [] : [{ notes: [], value: settings }];
}

type Pair = readonly [term: Least, kill: Least];

/** The limits in percent and in KiB, as far as they are given; else the default in percent. */
function leastsOf(percents: Written | undefined, sizes: Written | undefined, values: Values): readonly Pair[] {
  const leasts = [
    ...(percents === undefined ? [] : [pairOf(percents, values, 100, (percent) => ({ percent }))]),
    ...(sizes === undefined ? [] : [pairOf(sizes, values, undefined, (kib) => ({ bytes: kib * 1024 }))]),
  ];
  return leasts.length > 0 ? leasts : [[{ percent: PERCENT }, { percent: PERCENT / 2 }]];
}

/** `10` or `10,5`; the second is half of the first by default. earlyoom raises a first one that is below the second. */
function pairOf(value: Written, values: Values, most: number | undefined, least: (number: number) => Least): Pair {
  const what = 'a limit of earlyoom';
  if (/^[0.,]+$/.test(value.text)) values.refuse(value, 'above 0', what, 0);
  const read = (text: string): number => values.number({ ...value, text }, what, most);
  const [first = '', ...rest] = value.text.split(',');
  const term = read(first);
  const kill = rest.length === 0 ? term / 2 : read(rest.join(','));
  return [least(Math.max(term, kill)), least(kill)];
}
