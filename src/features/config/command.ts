import { Command } from 'commander';
import { lintConfig, lintNode } from '../../config/lint-notices.js';
import type { ConfigNotice, LoadedConfig, Origin } from '../../config/config.js';
import { ConfigError, messageOf } from '../../errors.js';
import type { MachineFacts } from '../../config/lint/machine.js';
import { exitCodeOf, formatIssue, formatPosition } from '../../cli/output/error-text.js';
import type { MakeCommand } from '../../cli/output/command.js';
import { outputOption, USAGE_AND_CONFIG, withHelp } from '../../cli/output/help.js';
import type { Io } from '../../cli/output/io.js';
import { addConfigOptions, configFromOptions, type ConfigOptions } from '../../cli/output/options.js';
import { checkedJson, checkedText, type Checked, type CheckedMachine } from './checked-config.js';
import { table } from '../../cli/output/table.js';
import { filesystemsRead } from '../../node/reading.js';
import { jsonDocument } from '../../core/name/json-text.js';

export interface ConfigDeps {
  readonly io: Io;
  readonly setExitCode: (code: number) => void;
  /** Throws if the configuration does not fit this machine, e.g. if the node cgroup is missing. */
  readonly machine: (loaded: LoadedConfig) => Promise<MachineFacts>;
}

interface ConfigCommandOptions extends ConfigOptions {
  readonly output: 'text' | 'json';
}

interface CheckOptions extends ConfigCommandOptions {
  readonly offline?: boolean;
  readonly strict?: boolean;
}

const EXIT_WARNINGS = 1;

export function configCommand(deps: ConfigDeps): Command {
  return new Command('config')
    .description('check, show, write or convert the configuration')
    .addCommand(checkCommand(deps))
    .addCommand(showCommand(deps.io))
    .addCommand(schemaCommand(deps.io));
}

function checkCommand({ io, setExitCode, machine }: ConfigDeps): Command {
  return withHelp(
    withOutput(new Command('check').description('report errors, and settings without effect on this machine'))
      .option('--offline', 'do not compare with this machine')
      .option('--strict', 'exit with 1 if there are warnings or errors'),
    {
      examples: [
        'evictd config check',
        'evictd config check --config new.yaml && systemctl reload evictd',
        'evictd config check --config new.yaml --offline --strict   in CI',
      ],
      exit: { 0: 'valid', 1: 'valid, but there are warnings or errors (only with --strict)', ...USAGE_AND_CONFIG },
    },
  ).action(async ({ offline, strict, ...options }: CheckOptions) => {
    const asJson = options.output === 'json';
    let loaded: LoadedConfig;
    try {
      loaded = configFromOptions(options);
    } catch (error) {
      if (!asJson || !(error instanceof ConfigError)) throw error;
      io.stdout(jsonDocument({ valid: false, issues: error.issues, notices: [] }));
      setExitCode(exitCodeOf(error));
      return;
    }
    const checked = await check(loaded, offline === true ? undefined : machine);
    io.stdout(asJson ? checkedJson(checked) : checkedText(checked));
    if (strict && checked.notices.some(({ level }) => level !== 'info')) setExitCode(EXIT_WARNINGS);
  });
}

/** A machine that cannot be read is not an error of the configuration, except for a missing node cgroup. */
async function check(loaded: LoadedConfig, read: ConfigDeps['machine'] | undefined): Promise<Checked> {
  let machine: CheckedMachine = { kind: 'offline' };
  let node: readonly ConfigNotice[] = [];
  if (read !== undefined) {
    try {
      machine = { kind: 'read', facts: await read(loaded) };
    } catch (error) {
      node = lintNode(loaded, error);
      machine = { kind: 'unreadable', reason: messageOf(error) };
    }
  }
  const found = lintConfig(loaded, machine.kind === 'read' ? machine.facts : undefined);
  return { loaded, machine, notices: [...loaded.notices, ...node, ...found] };
}

function showCommand(io: Io): Command {
  return withHelp(withOutput(new Command('show').description('show each value and where it was set')), {
    examples: ['evictd config show', "evictd config show --eviction-hard 'memory.available<5%' -o json"],
    exit: { 0: 'shown', ...USAGE_AND_CONFIG },
  }).action((options: ConfigCommandOptions) => {
    const loaded = configFromOptions(options);
    io.stdout(options.output === 'json' ? jsonDocument(shownJson(loaded)) : shownText(loaded));
    if (options.output === 'text') io.stderr(loaded.notices.map((notice) => `${notice.level}: ${formatIssue(notice)}\n`).join(''));
  });
}

function schemaCommand(io: Io): Command {
  return withHelp(new Command('schema').description('print the JSON Schema of a configuration file, for editors'), {
    examples: ['evictd config schema >/etc/evictd/schema.json', '# yaml-language-server: $schema=/etc/evictd/schema.json   a first line'],
    exit: { 0: 'printed', 64: USAGE_AND_CONFIG[64] },
  }).action(async () => {
    const { configurationSchema } = await import('../../config/json-schema.js');
    io.stdout(jsonDocument(configurationSchema()));
  });
}

function withOutput(command: Command): Command {
  return addConfigOptions(command.addOption(outputOption()));
}

function shownText({ origins }: LoadedConfig): string {
  const rows = [...origins].map(([key, { value, origin }]) => [key, valueText(value), originText(origin)]);
  return `${table(['KEY', 'VALUE', 'SET BY'], rows).join('\n')}\n`;
}

function shownJson({ origins, notices }: LoadedConfig): unknown {
  const values = [...origins].map(([key, { value, origin }]) => ({
    key,
    value,
    origin: origin.kind === 'set' ? { kind: 'set', ...origin.position } : origin,
  }));
  return { values, notices };
}

/** `-` for a key without a value. */
function valueText(value: unknown): string {
  if (value === null || (Array.isArray(value) && value.length === 0)) return '-';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function originText(origin: Origin): string {
  switch (origin.kind) {
    case 'default':
      return 'default';
    case 'set':
      return formatPosition(origin.position);
    case 'follows':
      return `${origin.key}: ${valueText(origin.value)}`;
    case 'copied':
      return `copied from ${origin.from}`;
  }
}

export const config: MakeCommand = ({ io, setExitCode }) =>
  configCommand({
    io,
    setExitCode,
    machine: async (loaded) => (await import('../../node/machine-facts.js')).readMachineFacts(loaded, filesystemsRead),
  });
