import { Command, InvalidArgumentError, Option } from 'commander';
import { configuredPlatform } from '../compose/configured-platform.js';
import { loadConfig } from '../config/load.js';
import { UsageError } from '../errors.js';
import type { Asked } from './history/asked.js';
import type { HistoryEvent } from './history/history-event.js';
import type { OpenJournal } from './history/journal-files.js';
import type { ReadingTally } from './history/reading.js';
import { listed, listOf, RECORDED_SIGNALS, RESULTS, TYPES } from './history/vocabulary.js';
import type { Io } from './io.js';
import { styleFor } from './output/style.js';

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
  readonly utc?: boolean;
  readonly config?: string;
  readonly stateDirectory?: string;
  readonly runtimeDirectory?: string;
}

/** `evictd history`: what the journal says, and what of it. */
export function historyCommand({ io, nowMs = Date.now }: { readonly io: Io; readonly nowMs?: () => number }): Command {
  return new Command('history')
    .argument(
      '[file...]',
      'files of a journal, the oldest first (default: that of the state directory, and what is only in the runtime directory yet)',
    )
    .description('what was evicted, when and why, and what was not: read from the journal')
    .addOption(new Option('-o, --output <format>', 'output format').choices(['text', 'json']).default('text'))
    .option(
      '--since <time>',
      "not older than this: 2h, today, 08:30, 2026-11-21, '2026-11-21 08:30', …T08:30:00Z; local time without a zone",
    )
    .option('--until <time>', 'not younger than this')
    .option('--workload <glob>', 'the name or the path of a workload, like batch-*; may be repeated, or a list', appended, [])
    .option('--signal <signal>', 'like memory.available; may be repeated, or a list', listOf(RECORDED_SIGNALS), [])
    .option('--result <result>', `${RESULTS.join(', ')}; may be repeated, or a list`, listOf(RESULTS), [])
    .option('--type <type>', `${TYPES.join(', ')}; may be repeated, or a list`, listOf(TYPES), [])
    .option('--all', 'every type (default: evictions, alerts, kernel-oom and errors, without the course of things)')
    .option('-n, --limit <count>', 'the newest so many only', positive)
    .option('-r, --reverse', 'the newest first')
    .option('--summary', 'evictions by workload, and the OOM kills of the kernel beside them')
    .option('--utc', 'times in UTC (default: local time, with its offset)')
    .option('--config <file>', 'the configuration that names the directories (default: /etc/evictd/config.yaml, if it is there)')
    .option('--state-directory <path>', 'where the journal is kept')
    .option('--runtime-directory <path>', 'where the records of the moment are')
    .addHelpText(
      'after',
      `
Reads while evictd writes, and needs no more than to be allowed to read the files (docs/history.md).

Examples:
  evictd history --since today
  evictd history --type eviction -n 1 -o json | jq '.[0].decision.ranking'    the last eviction, and who else could have gone
  evictd history --since 1h --type kernel-oom,alert,eviction          was evictd in time
  evictd history --workload 'batch-*' --result failed,ineffective
  evictd history --since 7d --summary
  evictd history /mnt/backup/journal.jsonl.1 /mnt/backup/journal.jsonl

Exit: 0 read (also where nothing was found, or lines could not be read, which is said), 64 usage, 66 no journal, or it may not be read, 78 configuration.`,
    )
    .action(async (files: readonly string[], options: HistoryOptions) => {
      const { momentOf } = await import('./history/moment.js');
      const { typesOf } = await import('./history/asked.js');
      const { openFiles, openJournal } = await import('./history/journal-files.js');
      const now = nowMs();
      const time = (text: string | undefined, option: string): string | undefined =>
        text === undefined ? undefined : new Date(momentOf(text, option, now)).toISOString();
      const asked: Asked = {
        since: time(options.since, '--since'),
        until: time(options.until, '--until'),
        workloads: options.workload,
        signals: options.signal,
        results: options.result,
        types: typesOf(options.type),
        all: options.all ?? false,
      };
      requireOrder(asked, options);
      const journal = files.length > 0 ? await openFiles(files) : await openJournal(placeOf(io, options));
      try {
        await show(io, journal, asked, options);
      } finally {
        await journal.close();
      }
    });
}

async function show(io: Io, journal: OpenJournal, asked: Asked, options: HistoryOptions): Promise<void> {
  const [{ historyOf }, { eventLine }, { JsonArray }, { Summary }, { Absence }, { summaryJson, summaryText }] = await Promise.all([
    import('./history/reading.js'),
    import('./output/history.js'),
    import('./output/history-json.js'),
    import('./history/summary.js'),
    import('./history/absence.js'),
    import('./output/history-summary.js'),
  ]);
  const { limit = Infinity, reverse = false, summary: summarized = false, utc = false, output } = options;
  const style = styleFor(io);
  const tally: ReadingTally = { records: 0, unreadable: new Map() };
  const array = new JsonArray();
  const summary = new Summary();
  const absence = new Absence();
  let shown = 0;
  const write = (events: readonly HistoryEvent[]): void => {
    shown += events.length;
    if (summarized) for (const event of events) summary.add(event);
    else io.stdout(events.map((event) => (output === 'json' ? array.event(event) : eventLine(event, style, utc))).join(''));
  };
  // The newest are found from the end, where reading stops with the last of them.
  const backwards = reverse || limit < Infinity;
  const kept: HistoryEvent[] = [];
  let left = limit;
  for await (const events of historyOf(journal, asked, backwards, tally, (record) => {
    absence.saw(record);
  })) {
    const wanted = events.slice(0, left);
    left -= wanted.length;
    if (backwards && !reverse) kept.push(...wanted);
    else write(wanted);
    if (left === 0 || (await io.stdoutTaken?.()) === false) break;
  }
  write(kept.reverse());
  // Without the records of kills, or against their order, nothing can be compared.
  const comparable = !backwards && (asked.types.length === 0 || asked.types.includes('kernel-oom'));
  if (comparable) summary.oomKillsUnseen = Number(absence.oomKills);
  if (summarized) io.stdout(output === 'json' ? summaryJson(summary) : summaryText(summary, style, utc));
  else if (output === 'json') io.stdout(array.end());
  for (const problem of journal.problems) io.stderr(`evictd: ${problem}\n`);
  for (const [path, lines] of tally.unreadable) io.stderr(`evictd: ${path}: ${unreadableText(lines)}\n`);
  if (shown === 0 && output === 'text' && !summarized)
    io.stderr(`evictd: none of ${String(tally.records)} records is one that was asked for\n`);
}

function unreadableText(lines: number): string {
  return `${lines === 1 ? 'a line is no record' : `${String(lines)} lines are no records`} and left out: torn by a crash, being written, or not evictd's`;
}

/** Where both directories are named, a configuration that cannot be read is in nobody's way. */
function placeOf(
  io: Io,
  { config: file, stateDirectory, runtimeDirectory }: HistoryOptions,
): { stateDirectory: string; runtimeDirectory: string } {
  if (stateDirectory !== undefined && runtimeDirectory !== undefined) return { stateDirectory, runtimeDirectory };
  const { config } = loadedFor(io, file);
  return { stateDirectory: stateDirectory ?? config.stateDirectory, runtimeDirectory: runtimeDirectory ?? config.runtimeDirectory };
}

function loadedFor(io: Io, file: string | undefined): ReturnType<typeof loadConfig> {
  try {
    return loadConfig({ platform: configuredPlatform(), file });
  } catch (error) {
    io.stderr(
      'evictd: history does without the configuration where it is told both directories, like: --state-directory /var/lib/evictd --runtime-directory /run/evictd\n',
    );
    throw error;
  }
}

function requireOrder({ since, until }: Asked, options: HistoryOptions): void {
  if (since === undefined || until === undefined || since <= until) return;
  throw new UsageError(
    'EVICTD_HISTORY_TIME',
    `--since '${options.since ?? ''}' (${since}) is after --until '${options.until ?? ''}' (${until})`,
    {
      hint: 'exchange them: nothing is between the two',
    },
  );
}

function appended(text: string, before: readonly string[]): readonly string[] {
  return [...before, ...listed(text)];
}

function positive(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('write a number, 1 or more');
  return Number(text);
}
