import { appendFileSync } from 'node:fs';
import { Command } from 'commander';
import type { Guard } from '../compose/guard.js';
import { raisePriority } from '../node/configured-platform.js';
import { formatError } from './output/error-text.js';
import { limitHeap, openHeap } from './heap-limits.js';
import type { MakeCommand } from './output/command.js';
import { USAGE_AND_CONFIG, withHelp } from './output/help.js';
import type { LoadedConfig } from '../config/config.js';
import { addConfigOptions, configFromOptions, type ConfigOptions } from './output/options.js';
import { addRecordingOptions, recordingPlan, type RecordingOptions } from './output/recording-options.js';
import { attempt } from '../errors.js';

interface RunOptions extends ConfigOptions, RecordingOptions {
  readonly dryRun?: boolean;
  readonly logFile?: string;
}

const EXAMPLES = [
  'evictd run --workload-cgroup /workload.slice',
  "evictd run --dry-run --eviction-hard 'memory.available<20%'",
  'evictd run --record /var/lib/evictd/recording.gz',
];

/** systemd does not start evictd again with a wrong configuration: what the previous evictd has frozen is thawed now. */
async function loadedOrLifted(options: RunOptions): Promise<LoadedConfig> {
  try {
    return configFromOptions(options);
  } catch (error) {
    const { liftAbandoned } = await import('../features/policy/restraint/abandoned-restraints.js');
    liftAbandoned();
    throw error;
  }
}

export const run: MakeCommand = (edge) => {
  const command = new Command('run')
    .description('watch the node and evict (the service)')
    .option('--dry-run', 'decide and record, but change nothing')
    .option('--log-file <file>', 'log to this file, not to standard error; rotated to FILE.1 at 4 MiB');
  return withHelp(addConfigOptions(addRecordingOptions(command)), {
    about: [
      'SIGHUP reloads the configuration. SIGUSR2 does the same as evictd resume. SIGTERM and SIGINT stop evictd. Without workloads in the configuration, evictd exports metrics, but evicts nothing.',
    ],
    examples: EXAMPLES,
    exit: {
      0: 'stopped by a signal',
      1: 'failure at run time',
      ...USAGE_AND_CONFIG,
      75: 'the node cgroup is missing, or another evictd guards it',
    },
  }).action(async (options: RunOptions) => {
    // First, because these signals end a process without a handler.
    let stop: () => void = () => undefined;
    const stopRequested = new Promise<void>((resolve) => {
      stop = resolve;
      edge.onStop(stop);
    });
    const started: { guard?: Guard; reloadRequested?: true } = {};
    const reloadRequested = (): void => {
      if (started.guard) reload(started.guard, options);
      else started.reloadRequested = true;
    };
    edge.onReload(reloadRequested);
    const resume = (): void => started.guard?.resume();
    edge.onResume(resume);
    const { logFile } = options;
    const { guard, exitNow } = await loggedFailure(logFile, async () => {
      const loaded = await loadedOrLifted(options);
      const recording = recordingPlan(options);
      limitHeap();
      raisePriority();
      const { exitNow, startGuard } = await import('../compose/guard.js');
      const guard = startGuard(loaded, {
        dryRun: options.dryRun === true,
        isTTY: edge.logsToTerminal && logFile === undefined,
        env: edge.io.env,
        logFile,
        recording,
        requests: { reload: reloadRequested, resume, stop },
        ...openHeap(),
      });
      return { guard, exitNow };
    });
    started.guard = guard;
    if (started.reloadRequested) reload(guard, options);
    await stopRequested;
    await guard.stop();
    exitNow(0); // does not wait for a hanging state directory or log reader
  });
};

/** Appends a start-up error to the log file too: a Windows service has no standard error. */
async function loggedFailure<T>(logFile: string | undefined, start: () => Promise<T>): Promise<T> {
  try {
    return await start();
  } catch (error) {
    if (logFile !== undefined) appendTo(logFile, `${new Date().toISOString()} ${formatError(error)}`);
    throw error;
  }
}

function appendTo(file: string, text: string): void {
  attempt(() => {
    appendFileSync(file, text); // the error goes to standard error anyway
  });
}

/** A configuration with errors is logged and not applied. */
function reload(guard: Guard, options: RunOptions): void {
  const beganNs = process.hrtime.bigint();
  let refused: readonly string[] | undefined;
  let warnings: readonly string[] = [];
  guard.service.reloading();
  try {
    warnings = guard.reload(configFromOptions(options));
  } catch (error) {
    const lines = formatError(error).trimEnd().split('\n');
    for (const line of lines) guard.log.error(line);
    guard.reloadRefused(lines);
    refused = lines;
  } finally {
    guard.service.ready();
    guard.answer('reload', { beganNs, refused, warnings });
  }
}
