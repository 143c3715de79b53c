import { Command, InvalidArgumentError, Option } from 'commander';
import type { Config } from '../config/config.js';
import type { ReclaimReading } from '../core/reclaim.js';
import { DISK_SIGNALS, type DiskSignal } from '../core/signal.js';
import { UsageError } from '../errors.js';
import type { NamedGain } from '../reclaim/gain.js';
import type { Io } from './io.js';
import { addConfigOptions, configFromOptions, type ConfigOptions } from './options.js';
import { gainJson, gainText, reclaimedJson, reclaimedText } from './output/reclaim.js';

export interface ReclaimDeps {
  readonly io: Io;
  readonly setExitCode: (code: number) => void;
  readonly gains: (config: Config) => Promise<readonly NamedGain[]>;
  /** `names`: those that the configuration allows, in the order in which they run. */
  readonly names: (config: Config) => Promise<readonly string[]>;
  readonly reclaim: (config: Config, names: readonly string[], signal: DiskSignal) => Promise<ReclaimReading>;
}

interface ReclaimOptions extends ConfigOptions {
  readonly dryRun?: true;
  readonly step?: readonly string[];
  readonly signal: DiskSignal;
  readonly output: 'text' | 'json';
}

/** `evictd reclaim`: what could be freed without evicting anybody; and freeing it, by hand. */
export function reclaimCommand({ io, setExitCode, gains, names, reclaim }: ReclaimDeps): Command {
  const command = new Command('reclaim')
    .description('carry out the steps of reclaim that the configuration allows, now; or show what there would be to gain')
    .option('--dry-run', 'only show what there would be to gain')
    .option('--step <name>', 'only this step; may be repeated', (name: string, before: readonly string[] | undefined) => [
      ...(before ?? []),
      name,
    ])
    .option('--signal <signal>', 'on whose filesystem', parseSignal, 'nodefs.available')
    .addOption(new Option('-o, --output <format>', 'output format').choices(['text', 'json']).default('text'));
  return addConfigOptions(command)
    .addHelpText(
      'after',
      `
Examples:
  evictd reclaim --dry-run
  evictd reclaim --step journald

Steps are those of the key reclaim (docs/reclaim.md); without any there is nothing to do. They run as transient units of systemd.
Exit: 0 done, 1 a step has failed, 64 usage, 78 configuration.`,
    )
    .action(async ({ dryRun, step: asked, signal, output, ...options }: ReclaimOptions) => {
      const { config } = configFromOptions(options);
      const wanted = chosen(await names(config), asked);
      if (dryRun) {
        const found = (await whileWaiting(gains(config))).filter(({ name }) => wanted.includes(name));
        io.stdout(output === 'json' ? gainJson(found) : gainText(found));
        if (found.some(({ gain: { error } }) => error !== undefined)) setExitCode(1);
        return;
      }
      const reading = await whileWaiting(reclaim(config, wanted, signal));
      io.stdout(output === 'json' ? reclaimedJson(reading) : reclaimedText(reading));
      if (reading.errors.length > 0) setExitCode(1);
    });
}

/** Neither a filesystem nor systemd keeps a process that waits for it. */
async function whileWaiting<T>(answer: Promise<T>): Promise<T> {
  const timer = setInterval(() => undefined, 1_000_000);
  try {
    return await answer;
  } finally {
    clearInterval(timer);
  }
}

function chosen(names: readonly string[], asked: readonly string[] | undefined): readonly string[] {
  if (asked === undefined) return names;
  const unknown = asked.find((name) => !names.includes(name));
  if (unknown === undefined) return names.filter((name) => asked.includes(name));
  throw new UsageError('EVICTD_USAGE', `no step of reclaim is called ${unknown}`, {
    hint: names.length === 0 ? 'the configuration has none: docs/reclaim.md' : `there are ${names.join(', ')}`,
  });
}

function parseSignal(text: string): DiskSignal {
  const signal = DISK_SIGNALS.find((each) => each === text);
  if (signal === undefined) throw new InvalidArgumentError(`one of ${DISK_SIGNALS.join(', ')}.`);
  return signal;
}
