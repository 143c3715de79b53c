import { Command, InvalidArgumentError, Option } from 'commander';
import type { LoadedConfig } from '../../config/config.js';
import { oomOrder } from '../../core/oom/oom-badness.js';
import { compareWithKernel } from './oom-comparison.js';
import type { OomReading } from '../../core/oom/oom-reading.js';
import { RESOURCE_SIGNALS, SIGNAL_FACTS, type ResourceSignal } from '../../core/signal/signal.js';
import { UsageError } from '../../errors.js';
import type { MakeCommand } from '../../cli/output/command.js';
import { outputOption, USAGE_AND_CONFIG, withHelp } from '../../cli/output/help.js';
import type { Io } from '../../cli/output/io.js';
import { addConfigOptions, configForLooking, type ConfigOptions } from '../../cli/output/options.js';
import { kernelJson, kernelText } from './kernel-ranking.js';
import { rankJson, rankText, type RankReport } from '../../cli/output/ranking.js';
import { readRanking } from '../../cli/output/read-ranking.js';
import { styleFor } from '../../cli/output/style.js';
import { addPodOptions, ranksPods, rankPods, type RankPodsOptions } from './rank-pods.js';
import type { OpenReading } from '../../node/reading.js';

export interface RankDeps {
  readonly io: Io;
  readonly open: OpenReading;
  /** What the kernel's OOM killer would compare. @param cgroup  memory cgroup of the OOM; undefined: the machine */
  readonly readOomKiller: (cgroup: string | undefined) => Promise<OomReading> | OomReading;
}

interface RankOptions extends ConfigOptions, RankPodsOptions {
  readonly signal: ResourceSignal;
  readonly output: 'text' | 'json';
  readonly kernel?: true;
  readonly memcg?: string;
  readonly limit?: number;
}

const LISTED = 20;

export function rankCommand({ io, open, readOomKiller }: RankDeps): Command {
  const command = new Command('rank')
    .description("show the order of eviction, or the OOM killer's beside it")
    .addOption(new Option('-s, --signal <signal>', 'signal to rank for').choices(RESOURCE_SIGNALS).default('memory.available'))
    .addOption(outputOption())
    .option('--kernel', "compare with the order of the kernel's OOM killer")
    .addOption(new Option('--memcg <path>', '--kernel, for an OOM in this memory cgroup').implies({ kernel: true }))
    .addOption(
      new Option('--limit <lines>', `with --kernel: processes and workloads to list (default: ${String(LISTED)})`).argParser(lines),
    );
  return withHelp(addPodOptions(addConfigOptions(command)), {
    examples: [
      'evictd rank --workload-slice batch.slice',
      'evictd rank --memcg /workload.slice/web       an OOM within this cgroup',
      'evictd rank --pods pods.json --summary s.json',
    ],
    exit: {
      0: 'ranked, also if no workload is evictable',
      ...USAGE_AND_CONFIG,
      65: 'a JSON file is malformed',
      66: 'a JSON file cannot be read',
      75: 'the node cgroup is missing',
    },
  }).action(async (options: RankOptions) => {
    if (ranksPods(options)) {
      rankPods(options, io);
      return;
    }
    const { kernel, signal, limit } = options;
    if (limit !== undefined && !kernel) throw new UsageError('EVICTD_USAGE', '--limit needs --kernel', { hint: 'evictd rank --help' });
    if (kernel && SIGNAL_FACTS[signal].resource !== 'memory')
      throw new UsageError('EVICTD_USAGE', `--kernel needs a memory signal, not ${signal}`, { hint: 'omit --signal' });
    const loaded = configForLooking(options, io).loaded;
    const oom = kernel ? await readOomKiller(options.memcg ?? loaded.config.node.cgroup) : undefined;
    const report = await readRanking(loaded, signal, open);
    io.stdout(
      oom ? withKernel(report, oom, loaded, options, io) : options.output === 'json' ? rankJson(report) : rankText(report, styleFor(io)),
    );
  });
}

function withKernel(
  ranking: RankReport,
  oom: OomReading,
  { config }: LoadedConfig,
  { output, limit = LISTED }: RankOptions,
  io: Io,
): string {
  const order = oomOrder(oom);
  const comparison = compareWithKernel(ranking.ranked, order, oom.domain.cgroup);
  const report = { ranking, oom, order, comparison, limit, oomScoreAdj: config.oomScoreAdj };
  return output === 'json' ? kernelJson(report) : kernelText(report, styleFor(io));
}

function lines(text: string): number {
  const count = Number(text);
  if (!/^\d+$/.test(text) || count < 1 || !Number.isSafeInteger(count)) throw new InvalidArgumentError('Use a number from 1 on.');
  return count;
}

export const rank: MakeCommand = ({ io }) =>
  rankCommand({
    io,
    open: async (loaded) => (await import('../../node/runtime-reading.js')).openRuntimeReading(loaded),
    readOomKiller: async (cgroup) => (await import('../../node/configured-platform.js')).readOomKiller(cgroup),
  });
