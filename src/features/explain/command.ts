import { Argument, Command, Option } from 'commander';
import type { LoadedConfig } from '../../config/config.js';
import { jsonText } from '../../core/name/json-text.js';
import { printable } from '../../core/name/printable.js';
import { initialState } from '../../core/decide/state.js';
import { RESOURCE_SIGNALS, type ResourceSignal } from '../../core/signal/signal.js';
import { compileGlob } from '../../core/workload/glob.js';
import { InputError } from '../../errors.js';
import type { MakeCommand } from '../../cli/output/command.js';
import { outputOption, USAGE_AND_CONFIG, withHelp } from '../../cli/output/help.js';
import type { Io } from '../../cli/output/io.js';
import { addConfigOptions, configForLooking, type ConfigOptions } from '../../cli/output/options.js';
import type { RankReport } from '../../cli/output/ranking.js';
import { rankingIn } from '../../cli/output/read-ranking.js';
import { styleFor } from '../../cli/output/style.js';
import { policyOf } from '../../node/configuration-in-force.js';
import { filesystemsRead, type OpenReading } from '../../node/reading.js';
import { explainNow } from './explain-now.js';
import type { Explanation } from './explanation.js';
import { explanationText } from './explain-text.js';
import { settingsIn } from './settings.js';

interface ExplainDeps {
  readonly io: Io;
  readonly open: OpenReading;
}

interface ExplainOptions extends ConfigOptions {
  readonly signal?: ResourceSignal;
  readonly output: 'text' | 'json';
  readonly at?: string;
  readonly utc?: boolean;
}

export function explainCommand({ io, open }: ExplainDeps): Command {
  const command = new Command('explain')
    .addArgument(new Argument('[workload]', 'its name, its path, or a pattern'))
    .description('say why a workload is or is not evicted, now or at a time')
    .addOption(new Option('-s, --signal <signal>', 'signal to rank for (default: memory.available)').choices(RESOURCE_SIGNALS))
    .option('--at <time>', "what evictd saw then, from the journal: 2h, 08:30, '2026-11-21 08:30', as for history")
    .option('--utc', '--at: times in UTC')
    .addOption(outputOption());
  return withHelp(addConfigOptions(command), {
    examples: [
      'evictd explain                   why nothing is evicted now',
      'evictd explain batch.service',
      'evictd explain web.service --at 08:30',
    ],
    exit: { 0: 'explained', ...USAGE_AND_CONFIG, 66: 'no such workload, or --at without a journal', 75: 'the node cgroup is missing' },
  }).action(async (workload: string | undefined, options: ExplainOptions) => {
    const loaded = configForLooking(options, io).loaded;
    if (options.at !== undefined) {
      const { explainPast } = await import('./explain-past.js');
      io.stdout(await explainPast({ ...options, at: options.at, workload }, loaded, io));
      return;
    }
    const explanation = await explainLocally(loaded, options.signal ?? 'memory.available', workload, open);
    io.stdout(options.output === 'json' ? `${jsonText(explanation, 2)}\n` : explanationText(explanation, styleFor(io)));
  });
}

/** Reads the node, as a step would without anything that is kept from step to step. */
async function explainLocally(
  loaded: LoadedConfig,
  signal: ResourceSignal,
  wanted: string | undefined,
  open: OpenReading,
): Promise<Explanation> {
  const reading = await open(loaded);
  try {
    await filesystemsRead(reading.node);
    const observations = reading.node.read();
    const report = await rankingIn(reading, loaded, signal);
    const moment = {
      source: 'this process',
      node: report.node.name,
      signal,
      policy: policyOf(loaded.config, false),
      state: initialState,
      observations,
      ranking: report.ranked,
      nowNs: process.hrtime.bigint(),
      settingsOf: settingsIn(loaded),
    } as const;
    return explainNow(moment, wanted === undefined ? undefined : found(report, wanted));
  } finally {
    reading.close();
  }
}

/** @throws InputError  if there is none, or several match a pattern */
function found({ ranked, vacant, unreadable, configured }: RankReport, wanted: string): RankReport['ranked'][number] {
  const exact = ranked.filter(({ workload: { name, path } }) => [name, path, printable(name), printable(path)].includes(wanted));
  const glob = compileGlob(wanted);
  const all = exact.length > 0 ? exact : ranked.filter(({ workload: { name, path } }) => glob.test(name) || glob.test(path));
  const [first, second] = all;
  if (first && !second) return first;
  const named = ({ name, path }: { readonly name: string; readonly path: string }): boolean => name === wanted || path === wanted;
  const unread = unreadable.find(named);
  const why = second
    ? `${String(all.length)} workloads match '${wanted}': ${all
        .slice(0, 5)
        .map(({ workload }) => workload.path)
        .join(', ')}`
    : vacant.some(({ workload }) => named(workload))
      ? `${wanted} has no process, so it is not evicted`
      : unread
        ? `${wanted} cannot be ranked: ${unread.reason}`
        : configured
          ? `there is no workload '${wanted}'`
          : `no workload source is configured, so '${wanted}' is no workload`;
  throw new InputError('EVICTD_EXPLAIN_WORKLOAD', printable(why), {
    isMissing: true,
    hint: second ? 'name one by its path' : 'evictd rank lists the workloads',
  });
}

/** `evictd explain`. */
export const explain: MakeCommand = ({ io }) =>
  explainCommand({ io, open: async (loaded) => (await import('../../node/runtime-reading.js')).openRuntimeReading(loaded) });
