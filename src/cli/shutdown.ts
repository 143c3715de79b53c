import { Command, Option } from 'commander';
import type { LoadedConfig } from '../config/config.js';
import type { InhibitDelay } from '../core/inhibit-delay.js';
import { shutdownGracePeriods, shutdownRequestedNs } from '../core/shutdown-config.js';
import { groupByPriority, shutdownTurns, stoppedAlong } from '../core/shutdown-plan.js';
import { latestTimeline } from '../core/shutdown-timeline.js';
import { workloadsAtShutdown } from '../core/shutdown-workloads.js';
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

/** `evictd shutdown --plan`: who would end when, if the machine went down now. Nobody is ended. */
export function shutdownCommand({ io, open, readInhibitDelay }: ShutdownDeps): Command {
  const command = new Command('shutdown')
    .description('what would be ended when, if the machine went down now')
    .requiredOption('--plan', 'show it; there is nothing else that this command does')
    .addOption(new Option('-o, --output <format>', 'output format').choices(['text', 'json']).default('text'));
  return addConfigOptions(command)
    .addHelpText(
      'after',
      `
Examples:
  evictd shutdown --plan                           with the service's configuration
  evictd shutdown --plan -o json | jq -r '.groups[].workloads[].name'

Exit: 0, also where the time does not suffice; 64 usage, 75 the cgroup is missing, 78 configuration.`,
    )
    .action(async ({ output, ...options }: ShutdownOptions) => {
      const report = await plan(configFromOptions(options), open, readInhibitDelay);
      io.stdout(output === 'json' ? shutdownJson(report) : shutdownText(report, styleFor(io)));
    });
}

async function plan(loaded: LoadedConfig, open: OpenReading, readInhibitDelay: ShutdownDeps['readInhibitDelay']): Promise<ShutdownReport> {
  const periods = shutdownGracePeriods(loaded.config.shutdown);
  const inhibitDelay = await readInhibitDelay();
  const reading = await open(loaded);
  try {
    const candidates = reading.workloads.candidates();
    const { ended, leftAlone } = workloadsAtShutdown(candidates);
    // Everything that systemd has told counts: it was asked for this look.
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
