import { Command } from 'commander';
import type { LoadedConfig } from '../config/config.js';
import type { InhibitDelay } from '../core/inhibit-delay.js';
import { shutdownGracePeriods, shutdownRequestedNs } from '../core/shutdown-config.js';
import { groupByPriority, shutdownTurns, stoppedAlong } from '../core/shutdown-plan.js';
import { latestTimeline } from '../core/shutdown-timeline.js';
import { workloadsAtShutdown } from '../core/shutdown-workloads.js';
import type { MakeCommand } from './command.js';
import { outputOption, USAGE_AND_CONFIG, withHelp } from './help.js';
import type { Io } from './io.js';
import { addConfigOptions, configFromOptions, type ConfigOptions } from './options.js';
import { shutdownJson, shutdownText, type ShutdownReport } from './output/shutdown.js';
import { styleFor } from './output/style.js';
import type { OpenReading } from './reading.js';

export interface ShutdownDeps {
  readonly io: Io;
  readonly open: OpenReading;
  readonly readInhibitDelay: () => Promise<InhibitDelay>;
}

interface ShutdownOptions extends ConfigOptions {
  readonly output: 'text' | 'json';
}

export function shutdownCommand({ io, open, readInhibitDelay }: ShutdownDeps): Command {
  const command = new Command('shutdown')
    .description('show when a machine shutdown would end each workload')
    .requiredOption('--plan', 'show the plan (required; ends no workload)')
    .addOption(outputOption());
  return withHelp(addConfigOptions(command), {
    examples: ['evictd shutdown --plan', "evictd shutdown --plan -o json | jq -r '.groups[].workloads[].name'"],
    exit: { 0: 'shown, also if the inhibit delay is too short', ...USAGE_AND_CONFIG, 75: 'the node cgroup is missing' },
  }).action(async ({ output, ...options }: ShutdownOptions) => {
    const report = await planShutdown(configFromOptions(options), open, readInhibitDelay);
    io.stdout(output === 'json' ? shutdownJson(report) : shutdownText(report, styleFor(io)));
  });
}

async function planShutdown(
  loaded: LoadedConfig,
  open: OpenReading,
  readInhibitDelay: ShutdownDeps['readInhibitDelay'],
): Promise<ShutdownReport> {
  const periods = shutdownGracePeriods(loaded.config.shutdown);
  const inhibitDelay = await readInhibitDelay();
  const reading = await open(loaded);
  try {
    const candidates = reading.workloads.candidates();
    const { ended, leftAlone } = workloadsAtShutdown(candidates);
    const along = stoppedAlong(candidates, { sinceNs: 0n });
    const all = candidates.usages.map(({ workload }) => workload);
    return {
      timeline: latestTimeline(groupByPriority(periods, ended, shutdownTurns(periods, all, undefined, along))),
      along,
      requestedNs: shutdownRequestedNs(loaded.config.shutdown),
      configured: loaded.config.workloads.length > 0,
      inhibitDelay,
      leftAlone,
      unreadable: candidates.unreadable,
      problems: reading.workloads.problems(),
    };
  } finally {
    reading.close();
  }
}

/** `evictd shutdown`. */
export const shutdown: MakeCommand = ({ io }) =>
  shutdownCommand({
    io,
    open: async (loaded) => (await import('../compose/shutdown-reading.js')).openShutdownReading(loaded),
    readInhibitDelay: async () => (await import('../compose/shutdown.js')).readInhibitDelay(),
  });
