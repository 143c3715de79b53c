import { appendFileSync } from 'node:fs';
import { Command } from 'commander';
import type { Guard } from '../compose/guard.js';
import { goFirst } from '../compose/priority.js';
import { formatError } from './errors.js';
import { garbage, keepSmall } from './footprint.js';
import { addConfigOptions, configFromOptions, type ConfigOptions } from './options.js';
import type { ProgramEdge } from './program.js';
import { addRecordingOptions, recordingPlan, type RecordingOptions } from './recording-options.js';

interface RunOptions extends ConfigOptions, RecordingOptions {
  readonly dryRun?: boolean;
  readonly logFile?: string;
}

/** `evictd run`: the service. */
export function runCommand(edge: ProgramEdge): Command {
  const command = new Command('run')
    .description('watch and evict: the service')
    .option('--dry-run', 'decide and record, and touch nothing')
    .option('--log-file <file>', 'write the log there instead of to standard error; at 4 MiB it becomes NAME.1');
  return addConfigOptions(addRecordingOptions(command))
    .addHelpText(
      'after',
      `
Examples:
  evictd run                                       with /etc/evictd/config.yaml, or the defaults: watches, evicts nobody
  evictd run --workload-cgroup /workload.slice     every child of the slice is a workload
  evictd run --dry-run --eviction-hard 'memory.available<20%'
  evictd run --record /var/lib/evictd/recording.gz  for evictd replay

Signals: SIGHUP reads the configuration again, SIGTERM and SIGINT stop.
Exit: 0 stopped, 1 failure at run time, 64 usage, 75 the node cgroup is missing or another evictd guards it, 78 configuration.`,
    )
    .action(async (options: RunOptions) => {
      // Before anything else: until there is a handler these signals end the process.
      let stop: () => void = () => undefined;
      const stopAsked = new Promise<void>((resolve) => {
        stop = resolve;
        edge.onStop(stop);
      });
      const started: { guard?: Guard; reloadAsked?: true } = {};
      const reloadAsked = (): void => {
        if (started.guard) reload(started.guard, options);
        else started.reloadAsked = true;
      };
      edge.onReload(reloadAsked);
      const { logFile } = options;
      const { guard, exitNow } = await loggedFailure(logFile, async () => {
        const loaded = configFromOptions(options);
        const recording = recordingPlan(options);
        keepSmall();
        goFirst();
        const { exitNow, startGuard } = await import('../compose/guard.js');
        const { collectAll, collectYoung } = garbage();
        const guard = startGuard(loaded, {
          dryRun: options.dryRun === true,
          isTTY: edge.logsToTerminal && logFile === undefined,
          env: edge.io.env,
          logFile,
          recording,
          asked: { reload: reloadAsked, stop },
          atRest: collectYoung,
        });
        collectAll();
        return { guard, exitNow };
      });
      started.guard = guard;
      if (started.reloadAsked) reload(guard, options);
      await stopAsked;
      await guard.stop();
      exitNow(0); // whoever has not answered by now, the state directory or the reader of standard error, is not waited for
    });
}

/** Whoever has nobody to read its standard error finds there, too, why it could not start. */
async function loggedFailure<T>(logFile: string | undefined, start: () => Promise<T>): Promise<T> {
  try {
    return await start();
  } catch (error) {
    if (logFile !== undefined) appendTo(logFile, `${new Date().toISOString()} ${formatError(error)}`);
    throw error;
  }
}

function appendTo(file: string, text: string): void {
  try {
    appendFileSync(file, text);
  } catch {
    // it is said on standard error
  }
}

/** A configuration with errors is said, and the one before stays. */
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
    guard.answerReload({ beganNs, refused, warnings });
  }
}
