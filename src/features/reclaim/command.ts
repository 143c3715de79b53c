import { Command, InvalidArgumentError } from 'commander';
import type { Config } from '../../config/config.js';
import type { ReclaimReading } from '../../core/reclaim/reclaim.js';
import { DISK_SIGNALS, type DiskSignal } from '../../core/signal/signal.js';
import { UsageError } from '../../errors.js';
import type { NamedGain, Gain } from './reclaim-gain.js';
import type { MakeCommand } from '../../cli/output/command.js';
import { outputOption, USAGE_AND_CONFIG, withHelp } from '../../cli/output/help.js';
import type { Io } from '../../cli/output/io.js';
import { addConfigOptions, configFromOptions, type ConfigOptions } from '../../cli/output/options.js';
import { amountOfBytes } from '../../core/quantity/amount.js';
import { jsonInteger } from '../../core/quantity/integer.js';
import { table } from '../../cli/output/table.js';
import { jsonDocument } from '../../core/name/json-text.js';

export interface ReclaimDeps {
  readonly io: Io;
  readonly setExitCode: (code: number) => void;
  readonly gains: (config: Config) => Promise<readonly NamedGain[]>;
  /** The configured steps, in the order in which they run. */
  readonly names: (config: Config) => Promise<readonly string[]>;
  readonly reclaim: (config: Config, names: readonly string[], signal: DiskSignal) => Promise<ReclaimReading>;
}

interface ReclaimOptions extends ConfigOptions {
  readonly dryRun?: true;
  readonly step?: readonly string[];
  readonly signal: DiskSignal;
  readonly output: 'text' | 'json';
}

export function reclaimCommand({ io, setExitCode, gains, names, reclaim: run }: ReclaimDeps): Command {
  const command = new Command('reclaim')
    .description('run the configured steps of node-level reclaim now')
    .option('--dry-run', 'only show how much each step could free')
    .option('--step <name>', 'run only this step; repeatable', (name: string, before: readonly string[] | undefined) => [
      ...(before ?? []),
      name,
    ])
    .option('--signal <signal>', 'signal whose filesystem is reclaimed', parseSignal, 'nodefs.available')
    .addOption(outputOption());
  return withHelp(addConfigOptions(command), {
    about: ['Runs the steps under the key reclaim (docs/reclaim.md) as transient systemd units.'],
    examples: ['evictd reclaim --dry-run', 'evictd reclaim --step journald'],
    exit: { 0: 'done', 1: 'a step failed', ...USAGE_AND_CONFIG },
  }).action(async ({ dryRun, step: requested, signal, output, ...options }: ReclaimOptions) => {
    const { config } = configFromOptions(options);
    const wanted = chosen(await names(config), requested);
    if (dryRun) {
      const found = (await whileWaiting(gains(config))).filter(({ name }) => wanted.includes(name));
      io.stdout(output === 'json' ? gainJson(found) : gainText(found));
      if (found.some(({ gain: { error } }) => error !== undefined)) setExitCode(1);
      return;
    }
    const reading = await whileWaiting(run(config, wanted, signal));
    io.stdout(output === 'json' ? reclaimedJson(reading) : reclaimedText(reading));
    if (reading.errors.length > 0) setExitCode(1);
  });
}

/** Keeps the process alive: a pending answer of a filesystem or of systemd does not. */
async function whileWaiting<T>(answer: Promise<T>): Promise<T> {
  const timer = setInterval(() => undefined, 1_000_000);
  try {
    return await answer;
  } finally {
    clearInterval(timer);
  }
}

function chosen(names: readonly string[], requested: readonly string[] | undefined): readonly string[] {
  if (requested === undefined) return names;
  const unknown = requested.find((name) => !names.includes(name));
  if (unknown === undefined) return names.filter((name) => requested.includes(name));
  throw new UsageError('EVICTD_USAGE', `no reclaim step has the name ${unknown}`, {
    hint: names.length === 0 ? 'no step is configured: docs/reclaim.md' : `use one of ${names.join(', ')}`,
  });
}

function parseSignal(text: string): DiskSignal {
  const signal = DISK_SIGNALS.find((each) => each === text);
  if (signal === undefined) throw new InvalidArgumentError(`use one of ${DISK_SIGNALS.join(', ')}.`);
  return signal;
}

export const reclaim: MakeCommand = ({ io, setExitCode }) =>
  reclaimCommand({
    io,
    setExitCode,
    gains: async (config) => (await import('./open.js')).readGains(config),
    names: async (config) => (await import('./open.js')).reclaimNames(config),
    reclaim: async (...args) => (await import('./open.js')).reclaimNow(...args),
  });

const GAIN_COLUMNS = ['STEP', '>GAIN', 'COMMAND'];
const FREED_COLUMNS = ['STEP', '>FREED', '>INODES'];
const NO_STEPS = 'nothing was reclaimed: no step is configured (add steps under the key reclaim: docs/reclaim.md)\n';

/** What each step could free, and its commands. */
function gainText(gains: readonly NamedGain[]): string {
  if (gains.length === 0) return NO_STEPS;
  const rows = gains.map(({ name, gain }) => [name, amountText(gain), gain.commands.map((argv) => argv.join(' ')).join('; ')]);
  const errors = gains.flatMap(({ name, gain }) => (gain.error === undefined ? [] : [`${name}: ${gain.error}`]));
  return [...table(GAIN_COLUMNS, rows), ...errors].map((line) => `${line}\n`).join('');
}

function amountText({ bytes, count, unit, commands }: Gain): string {
  if (commands.length === 0) return 'not available here';
  const items = count === undefined ? [] : [`${String(count)} ${count === 1n ? unit : `${unit}s`}`];
  return [...(bytes === undefined ? [] : [amountOfBytes(bytes)]), ...items].join(', ') || 'unknown';
}

function gainJson(gains: readonly NamedGain[]): string {
  const steps = gains.map(({ name, gain: { bytes, count, unit, commands, error } }) => ({
    name,
    gainBytes: bytes === undefined ? null : jsonInteger(bytes),
    count: count === undefined ? null : jsonInteger(count),
    unit,
    commands,
    ...(error !== undefined && { error }),
  }));
  return jsonDocument({ steps });
}

function reclaimedText({ yields = [], errors }: ReclaimReading): string {
  if (yields.length === 0 && errors.length === 0) return NO_STEPS;
  const rows = yields.map(({ collection, bytes, inodes }) => [collection, amountOfBytes(bytes), String(inodes)]);
  return [...table(FREED_COLUMNS, rows), ...errors].map((line) => `${line}\n`).join('');
}

function reclaimedJson({ yields = [], errors }: ReclaimReading): string {
  const steps = yields.map(({ collection, bytes, inodes }) => ({
    name: collection,
    freedBytes: jsonInteger(bytes),
    freedInodes: jsonInteger(inodes),
  }));
  return jsonDocument({ steps, errors });
}
