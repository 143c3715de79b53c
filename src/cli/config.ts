import { Command, Option } from 'commander';
import type { LoadedConfig, Origin } from '../config/config.js';
import { ConfigError } from '../errors.js';
import { formatIssue, formatPosition } from './errors.js';
import type { Io } from './io.js';
import { addConfigOptions, configFromOptions, type ConfigOptions } from './options.js';
import { table } from './output/table.js';

interface ConfigCommandOptions extends ConfigOptions {
  readonly output: 'text' | 'json';
}

/** `evictd config`: check and show what `run` would read. */
export function configCommand({ io }: { readonly io: Io }): Command {
  return new Command('config').description('check or show the configuration').addCommand(checkCommand(io)).addCommand(showCommand(io));
}

function checkCommand(io: Io): Command {
  return withOutput(new Command('check').description('say everything that is wrong with the configuration'))
    .addHelpText(
      'after',
      `
Examples:
  evictd config check
  evictd config check --config ./config.yaml && systemctl reload evictd

Exit: 0 it can be used, 78 it cannot.`,
    )
    .action((options: ConfigCommandOptions) => {
      const asJson = options.output === 'json';
      try {
        const loaded = configFromOptions(options);
        io.stdout(asJson ? json({ valid: true, issues: [], notices: loaded.notices }) : checkedText(loaded));
      } catch (error) {
        if (asJson && error instanceof ConfigError) io.stdout(json({ valid: false, issues: error.issues, notices: [] }));
        throw error;
      }
    });
}

function showCommand(io: Io): Command {
  return withOutput(new Command('show').description('show the values in effect and where each was set'))
    .addHelpText(
      'after',
      `
Examples:
  evictd config show
  evictd config show --eviction-hard 'memory.available<5%' --output json

Exit: 0, or 78 when the configuration cannot be used.`,
    )
    .action((options: ConfigCommandOptions) => {
      const loaded = configFromOptions(options);
      io.stdout(options.output === 'json' ? json(shownJson(loaded)) : shownText(loaded));
      if (options.output === 'text') io.stderr(noticesText(loaded));
    });
}

function withOutput(command: Command): Command {
  return addConfigOptions(
    command.addOption(new Option('-o, --output <format>', 'output format').choices(['text', 'json']).default('text')),
  );
}

/** One line, then what is worth knowing. */
function checkedText(loaded: LoadedConfig): string {
  const { thresholds, workloads, rules } = loaded.config;
  const sources = [
    ...new Set([...loaded.origins.values()].flatMap(({ origin }) => (origin.kind === 'set' ? [origin.position.file] : []))),
  ].sort();
  const counts = [count(thresholds.length, 'threshold'), count(workloads.length, 'workload source'), count(rules.length, 'rule')].join(
    ', ',
  );
  return `configuration ok: ${counts} (${sources.length === 0 ? 'defaults only' : `from ${sources.join(', ')}`})\n${noticesText(loaded)}`;
}

function count(number: number, noun: string): string {
  return `${String(number)} ${noun}${number === 1 ? '' : 's'}`;
}

function noticesText({ notices }: LoadedConfig): string {
  return notices.map((notice) => `${notice.level}: ${formatIssue(notice)}\n`).join('');
}

function shownText({ origins }: LoadedConfig): string {
  const columns = ['KEY', 'VALUE', 'SET BY'].map((heading) => ({ heading, align: 'left' as const }));
  const rows = [...origins].map(([key, { value, origin }]) => [key, valueText(value), originText(origin)]);
  return `${table(columns, rows).join('\n')}\n`;
}

function shownJson({ origins, notices }: LoadedConfig): unknown {
  const values = [...origins].map(([key, { value, origin }]) => ({
    key,
    value,
    origin: origin.kind === 'default' ? { kind: 'default' } : { kind: 'set', ...origin.position },
  }));
  return { values, notices };
}

/** A key without a value and without a default is shown as `-`. */
function valueText(value: unknown): string {
  if (value === null || (Array.isArray(value) && value.length === 0)) return '-';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function originText(origin: Origin): string {
  return origin.kind === 'default' ? 'default' : formatPosition(origin.position);
}

function json(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}
