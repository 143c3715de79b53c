import { Command, Option } from 'commander';
import type { Candidates } from '../core/workload.js';
import type { LoadedConfig } from '../config/config.js';
import { rankMemoryPressure } from '../core/rank.js';
import { SIGNAL_FACTS, SIGNALS, type Signal } from '../core/signal.js';
import type { Io } from './io.js';
import { addConfigOptions, configFromOptions, type ConfigOptions } from './options.js';
import { rankJson, rankText, type RankReport } from './output/ranking.js';
import { styleFor } from './output/style.js';
import type { OpenReading } from './reading.js';

export interface RankDeps {
  readonly io: Io;
  readonly open: OpenReading;
}

interface RankOptions extends ConfigOptions {
  readonly signal: Signal;
  readonly output: 'text' | 'json';
}

/** `evictd rank`: the order that an eviction would follow now, protected workloads in their place. Nothing is touched. */
export function rankCommand({ io, open }: RankDeps): Command {
  const command = new Command('rank')
    .description('who would be evicted, in order, and why')
    .addOption(new Option('-s, --signal <signal>', 'the signal to rank for').choices(SIGNALS).default('memory.available'))
    .addOption(new Option('-o, --output <format>', 'output format').choices(['text', 'json']).default('text'));
  return addConfigOptions(command)
    .addHelpText(
      'after',
      `
Examples:
  evictd rank --workload-cgroup /workload.slice    every child of the slice is a workload
  evictd rank -o json | jq -r '.workloads[] | select(.protection == null) | .name'

Exit: 0, also where nothing is evictable; 64 usage, 75 the node cgroup is missing, 78 configuration.`,
    )
    .action(async (options: RankOptions) => {
      const loaded = configFromOptions(options);
      const report = await rank(loaded, options.signal, open);
      io.stdout(options.output === 'json' ? rankJson(report) : rankText(report, styleFor(io)));
    });
}

async function rank(loaded: LoadedConfig, signal: Signal, open: OpenReading): Promise<RankReport> {
  const { evictable } = SIGNAL_FACTS[signal];
  const configured = loaded.config.workloads.length > 0;
  const reading = await open(loaded);
  try {
    const { node, workloads } = reading;
    const problems = workloads.problems();
    if (!evictable || !configured)
      return { signal, node: node.identity, evictable, configured, ranked: [], vacant: 0, unreadable: [], problems };
    const candidates = workloads.candidates();
    const withProcess = inhabited(candidates);
    return {
      signal,
      node: node.identity,
      evictable,
      configured,
      ranked: rankMemoryPressure(withProcess),
      vacant: candidates.usages.length - withProcess.usages.length,
      unreadable: candidates.unreadable,
      problems: workloads.problems(),
    };
  } finally {
    reading.close();
  }
}

/** `run` asks only those that would go; here everybody is shown. */
function inhabited(candidates: Candidates): Candidates {
  const usages = candidates.usages.filter(({ workload }) => candidates.veto?.(workload)?.kind !== 'vacant');
  return { ...candidates, usages };
}
