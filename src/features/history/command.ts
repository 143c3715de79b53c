import { Command, InvalidArgumentError, Option } from 'commander';
import { UsageError } from '../../errors.js';
import { type HistoryFilter, listed, listOf, RECORDED_SIGNALS, RESULTS, TYPES, type ReadingTally } from './history-query.js';
import type { HistoryEvent } from '../../journal/reading/history-event.js';
import type { OpenJournal } from '../../journal/reading/journal-reader.js';
import { outputOption, SHARED_GROUPS, USAGE_AND_CONFIG, withHelp } from '../../cli/output/help.js';
import type { Io } from '../../cli/output/io.js';
import { configForLooking } from '../../cli/output/options.js';
import { styleFor } from '../../cli/output/style.js';

interface HistoryOptions {
  readonly output: 'text' | 'json';
  readonly since?: string;
  readonly until?: string;
  readonly workload: readonly string[];
  readonly signal: readonly string[];
  readonly result: readonly string[];
  readonly type: readonly string[];
  readonly all?: boolean;
  readonly limit?: number;
  readonly reverse?: boolean;
  readonly summary?: boolean;
  readonly ranking?: boolean;
  readonly follow?: boolean;
  readonly utc?: boolean;
  readonly config?: string;
  readonly stateDirectory?: string;
  readonly runtimeDirectory?: string;
}

export function history({ io, nowMs = Date.now }: { readonly io: Io; readonly nowMs?: () => number }): Command {
  const command = new Command('history')
    .argument('[file...]', "journal files, oldest first (default: this machine's)")
    .description('show past evictions, alerts and OOM kills from the journal')
    .option('--since <time>', 'at or after: 2h, today, 08:30, 2026-11-21, …T08:30:00Z')
    .option('--until <time>', 'at or before')
    .addOption(repeatable('--workload <glob>', 'names or paths, e.g. batch-*', [], (text, before) => [...before, ...listed(text)]))
    .addOption(repeatable('--signal <signal>', 'signals of evictions', RECORDED_SIGNALS, listOf(RECORDED_SIGNALS)))
    .addOption(repeatable('--result <result>', 'results of evictions', RESULTS, listOf(RESULTS)))
    .addOption(repeatable('--type <type>', 'types of records', TYPES, listOf(TYPES), 'eviction, alert, kernel-oom, error'))
    .optionsGroup(SHARED_GROUPS.form)
    .option('--all', 'records of every type')
    .addOption(outputOption())
    .option('-n, --limit <count>', 'only the newest COUNT records', positive)
    .option('-r, --reverse', 'newest first')
    .option('--ranking', 'all candidates of each eviction, in their order')
    .option('-f, --follow', 'wait for more; ends with Ctrl-C')
    .addOption(new Option('--summary', 'evictions and OOM kills by workload').conflicts(['ranking', 'follow']))
    .option('--utc', 'times in UTC (default: local time with offset)')
    .optionsGroup(SHARED_GROUPS.configuration)
    .option('--config <file>', 'configuration with the directories (default: /etc/evictd/config.yaml, if it exists)')
    .option('--state-directory <path>', 'directory of the journal')
    .option('--runtime-directory <path>', 'directory of recent journal records')
    .optionsGroup('Options:');
  return withHelp(command, {
    about: ['--workload, --signal, --result and --type take a comma-separated list and can be repeated. Times without a zone are local.'],
    examples: [
      'evictd history --since today',
      "evictd history --workload 'batch-*' --result failed,ineffective",
      "evictd history --type eviction -n 1 -o json | jq '.[0].decision.ranking'",
    ],
    exit: {
      0: 'read, also if no record matches, or there is no journal yet',
      ...USAGE_AND_CONFIG,
      66: 'a file is missing, or the journal cannot be read',
    },
  }).action((files: readonly string[], options: HistoryOptions) => read(io, files, options, nowMs()));
}

async function read(io: Io, files: readonly string[], options: HistoryOptions, sinceMs: number): Promise<void> {
  const { momentOf } = await import('../../cli/output/moment.js');
  const { typesOf } = await import('./history-query.js');
  const { openFiles, openJournal, NoJournalError } = await import('../../journal/reading/journal-reader.js');
  const time = (text: string | undefined, option: string): string | undefined =>
    text === undefined ? undefined : new Date(momentOf(text, option, sinceMs)).toISOString();
  const filter: HistoryFilter = {
    since: time(options.since, '--since'),
    until: time(options.until, '--until'),
    workloads: options.workload,
    signals: options.signal,
    results: options.result,
    types: typesOf(options.type),
    all: options.all ?? false,
    rankings: options.ranking === true || (options.output === 'json' && options.summary !== true),
  };
  requireOrder(filter, options);
  if (options.follow && (files.length > 0 || options.output === 'json' || options.reverse))
    throw new UsageError('EVICTD_USAGE', '--follow is for the text of the running journal', {
      hint: 'omit files, --output json and --reverse',
    });
  const place = files.length > 0 ? undefined : placeOf(io, options);
  try {
    const journal = place ? await openJournal(place) : await openFiles(files);
    try {
      await show(io, journal, filter, options);
    } finally {
      await journal.close();
    }
  } catch (error) {
    if (place === undefined || !(error instanceof NoJournalError)) throw error;
    if (options.output === 'json') io.stdout('[]\n');
    io.stderr(`evictd: ${error.message}: ${error.hint ?? ''}\n`);
  }
  if (place && options.follow) await (await import('./follow.js')).follow(io, place, filter, options, sinceMs);
}

async function show(io: Io, journal: OpenJournal, filter: HistoryFilter, options: HistoryOptions): Promise<void> {
  const [{ historyOf }, { eventLine }, { JsonArray }, { Summary }, { DowntimeOomKills }, { summaryJson, summaryText }] = await Promise.all([
    import('./history-query.js'),
    import('./output/history-output.js'),
    import('./output/history-output.js'),
    import('./history-summary.js'),
    import('./history-summary.js'),
    import('./output/history-output.js'),
  ]);
  const { limit = Infinity, reverse = false, summary: summarized = false, utc = false, ranking = false, output } = options;
  const style = styleFor(io);
  const tally: ReadingTally = { records: 0, types: new Map(), unreadable: new Map() };
  const array = new JsonArray();
  const summary = new Summary();
  const downtime = new DowntimeOomKills();
  let shown = 0;
  const write = (events: readonly HistoryEvent[]): void => {
    shown += events.length;
    if (summarized) for (const event of events) summary.add(event);
    else io.stdout(events.map((event) => (output === 'json' ? array.event(event) : eventLine(event, style, utc, ranking))).join(''));
  };
  // --limit reads from the end of the journal and stops early.
  const backwards = reverse || limit < Infinity;
  const kept: HistoryEvent[] = [];
  let left = limit;
  for await (const events of historyOf(journal, filter, backwards, tally, (record) => {
    downtime.add(record);
  })) {
    const wanted = events.slice(0, left);
    left -= wanted.length;
    if (backwards && !reverse) kept.push(...wanted);
    else write(wanted);
    if (left === 0 || (await io.stdoutTaken?.()) === false) break;
  }
  write(kept.reverse());
  // The comparison needs every record of OOM kills in order.
  const comparable = !backwards && (filter.types.length === 0 || filter.types.includes('kernel-oom'));
  if (comparable) summary.oomKillsUnseen = Number(downtime.total);
  if (summarized) io.stdout(output === 'json' ? summaryJson(summary) : summaryText(summary, style, utc));
  else if (output === 'json') io.stdout(array.end());
  for (const problem of journal.problems) io.stderr(`evictd: ${problem}\n`);
  for (const [path, lines] of tally.unreadable) io.stderr(`evictd: ${path}: ${unreadableText(lines)}\n`);
  if (shown === 0 && output === 'text' && !summarized) io.stderr(`evictd: ${nothingText(tally, options)}\n`);
}

/** 'no record matches; the journal has 12: 9 threshold, 3 start (--all shows every type)'. */
function nothingText({ records, types }: ReadingTally, { all }: HistoryOptions): string {
  const counts = [...types].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)).map(([type, count]) => `${String(count)} ${type}`);
  const others = counts.length === 0 ? '' : `: ${counts.join(', ')}${all === true ? '' : ' (--all shows every type)'}`;
  return `no record matches; the journal has ${String(records)}${others}`;
}

function unreadableText(lines: number): string {
  return `${lines === 1 ? 'skipped a line that is not a record' : `skipped ${String(lines)} lines that are not records`}: torn by a crash, being written, or not from evictd`;
}

/** Needs no configuration if both directories are given. */
function placeOf(
  io: Io,
  { config: file, stateDirectory, runtimeDirectory }: HistoryOptions,
): { stateDirectory: string; runtimeDirectory: string } {
  if (stateDirectory !== undefined && runtimeDirectory !== undefined) return { stateDirectory, runtimeDirectory };
  const { config } = configForLooking(
    {
      ...(file !== undefined && { config: file }),
      ...(stateDirectory !== undefined && { stateDirectory }),
      ...(runtimeDirectory !== undefined && { runtimeDirectory }),
    },
    io,
  ).loaded;
  return { stateDirectory: stateDirectory ?? config.stateDirectory, runtimeDirectory: runtimeDirectory ?? config.runtimeDirectory };
}

function requireOrder({ since, until }: HistoryFilter, options: HistoryOptions): void {
  if (since === undefined || until === undefined || since <= until) return;
  throw new UsageError(
    'EVICTD_HISTORY_TIME',
    `--since '${options.since ?? ''}' (${since}) is after --until '${options.until ?? ''}' (${until})`,
    {
      hint: 'exchange the two',
    },
  );
}

/** An option that takes a list and may be given several times. @param known  what `parse` accepts; empty: any text */
function repeatable(
  flags: string,
  description: string,
  known: readonly string[],
  parse: (text: string, before: readonly string[]) => readonly string[],
  shownDefault?: string,
): Option {
  const option = new Option(flags, description).default([], shownDefault);
  return (known.length === 0 ? option : option.choices(known)).argParser(parse);
}

function positive(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('Use a number from 1 on.');
  return Number(text);
}
