import { Command, InvalidArgumentError, Option } from 'commander';
import type { LoadedConfig } from '../config/config.js';
import { oomOrder } from '../core/oom-badness.js';
import { compareWithKernel } from '../core/oom-comparison.js';
import type { OomReading } from '../core/oom-reading.js';
import { filesystemOf, withDisks } from '../core/disk-holding.js';
import { holdersOn } from '../core/held-space.js';
import { usagesFor } from '../core/usages.js';
import { rank } from '../core/rank.js';
import { MACHINE_RESOURCES, RESOURCE_SIGNALS, SIGNAL_FACTS, type ResourceSignal } from '../core/signal.js';
import type { Candidates, WorkloadUsage } from '../core/workload.js';
import { UsageError } from '../errors.js';
import type { Io } from './io.js';
import { addConfigOptions, configFromOptions, type ConfigOptions } from './options.js';
import { kernelJson, kernelText } from './output/kernel-ranking.js';
import { rankJson, rankText, type RankReport } from './output/ranking.js';
import { styleFor } from './output/style.js';
import { addPodOptions, asksForPods, rankPods, type RankPodsOptions } from './rank-pods.js';
import type { OpenReading } from './reading.js';

export interface RankDeps {
  readonly io: Io;
  readonly open: OpenReading;
  /** What the kernel's OOM killer would look at in this memcg; undefined: on the machine. */
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

/** `evictd rank`: the order that an eviction would follow now, protected workloads in their place. Nothing is touched. */
export function rankCommand({ io, open, readOomKiller }: RankDeps): Command {
  const command = new Command('rank')
    .description("who would be evicted, in order, and why; or the kernel's order beside it")
    .addOption(new Option('-s, --signal <signal>', 'the signal to rank for').choices(RESOURCE_SIGNALS).default('memory.available'))
    .addOption(new Option('-o, --output <format>', 'output format').choices(['text', 'json']).default('text'))
    .option('--kernel', "the order of the kernel's OOM killer, and where evictd's is another")
    .addOption(new Option('--memcg <path>', 'the same for an OOM within this memory cgroup').implies({ kernel: true }))
    .addOption(
      new Option('--limit <lines>', `with --kernel: how many processes and workloads to list (${String(LISTED)})`).argParser(lines),
    );
  return addPodOptions(addConfigOptions(command))
    .addHelpText(
      'after',
      `
Examples:
  evictd rank --workload-cgroup /workload.slice    every child of the slice is a workload
  evictd rank --workload-slice batch.slice         every unit below batch.slice is one
  evictd rank -o json | jq -r '.workloads[] | select(.protection == null) | .name'
  evictd rank --kernel                             whom the kernel would kill, beside whom evictd would evict
  evictd rank --memcg /workload.slice/web          the same where that cgroup reaches its own limit
  evictd rank --pods pods.json --summary s.json    whom a kubelet would evict, from what the API says

Exit: 0, also where nothing is evictable; 64 usage, 65 and 66 a document, 75 the cgroup is missing, 78 configuration.`,
    )
    .action(async (options: RankOptions) => {
      if (asksForPods(options)) {
        rankPods(options, io);
        return;
      }
      const { kernel, signal, limit } = options;
      if (limit !== undefined && !kernel)
        throw new UsageError('EVICTD_USAGE', '--limit goes with --kernel', { hint: 'evictd rank --help' });
      if (kernel && SIGNAL_FACTS[signal].resource !== 'memory')
        throw new UsageError('EVICTD_USAGE', `--kernel is about memory, not about ${signal}`, { hint: 'leave --signal out' });
      const loaded = configFromOptions(options);
      const oom = kernel ? await readOomKiller(options.memcg ?? loaded.config.node.cgroup) : undefined;
      const report = await ranking(loaded, signal, open);
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

async function ranking(loaded: LoadedConfig, signal: ResourceSignal, open: OpenReading): Promise<RankReport> {
  const evictable = MACHINE_RESOURCES.has(SIGNAL_FACTS[signal].resource);
  const configured = loaded.config.workloads.length > 0;
  const reading = await open(loaded);
  try {
    const { node, workloads } = reading;
    const problems = workloads.problems();
    const filesystem = filesystemOf(signal);
    const disks = filesystem && (await reading.measureDisks(filesystem));
    const holders = holdersOn(signal, disks?.holders, process.hrtime.bigint());
    if (!evictable || !configured)
      return { signal, node: node.identity, evictable, configured, ranked: [], vacant: [], unreadable: [], holders, problems };
    const candidates = disks ? withDisks(workloads.candidates(), disks.of) : workloads.candidates();
    const { inhabited, vacant } = lookedAt({ ...candidates, usages: usagesFor(signal, candidates) });
    return {
      signal,
      node: node.identity,
      evictable,
      configured,
      // What is evictable here does not depend on the filesystems.
      ranked: rank(signal, 'single', inhabited, loaded.config.departures),
      vacant,
      unreadable: candidates.unreadable,
      holders,
      problems: [...workloads.problems(), ...(disks?.problems ?? [])],
    };
  } finally {
    reading.close();
  }
}

/** `run` looks only at those that would go; here everybody is shown, and apart from them where nobody lives. */
function lookedAt({ usages, veto, vacant: leftOut }: Candidates): Record<'inhabited' | 'vacant', readonly WorkloadUsage[]> {
  const inhabited: WorkloadUsage[] = [];
  const vacant: WorkloadUsage[] = [...(leftOut?.() ?? [])];
  for (const usage of usages) {
    const { workload } = usage;
    const found = veto?.(workload);
    if (found?.kind === 'vacant') vacant.push(usage);
    else inhabited.push({ ...usage, workload: { ...workload, protection: workload.protection ?? found } });
  }
  return { inhabited, vacant };
}

function lines(text: string): number {
  const count = Number(text);
  if (!/^\d+$/.test(text) || count < 1 || !Number.isSafeInteger(count)) throw new InvalidArgumentError('a number from 1 on is expected.');
  return count;
}
