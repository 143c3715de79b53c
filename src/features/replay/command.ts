import { Command } from 'commander';
import type { LoadedConfig } from '../../config/config.js';
import type { CommandEdge } from '../../cli/output/command.js';
import { outputOption, USAGE_AND_CONFIG, withHelp } from '../../cli/output/help.js';
import { addConfigOptions, configFromOptions, type ConfigOptions } from '../../cli/output/options.js';
import { styleFor } from '../../cli/output/style.js';
import { flagText, changesDecisions, recordedWith, type OtherConfig } from './other-config.js';

interface ReplayOptions extends ConfigOptions {
  readonly output: 'text' | 'json';
}

export function replay({ io }: Pick<CommandEdge, 'io'>): Command {
  const command = new Command('replay')
    .argument('<file>', 'recording of evictd run --record')
    .description('replay a recorded run, also with another configuration')
    .addOption(outputOption());
  return withHelp(addConfigOptions(command), {
    about: [
      'Reads the file and touches nothing else. With --config it also decides the run with that configuration; with other flags, with the recorded configuration and these flags. It shows which evictions differ and what it had to assume (docs/replay.md).',
    ],
    examples: [
      'evictd run --record /var/lib/evictd/recording.gz',
      'evictd replay /var/lib/evictd/recording.gz --config new.yaml',
      "evictd replay recording.gz --eviction-hard 'memory.available<500Mi' -o json",
    ],
    exit: { 0: 'replayed', ...USAGE_AND_CONFIG, 65: 'the file is damaged or no recording', 66: 'the file cannot be read' },
  }).action(async (file: string, { output, ...options }: ReplayOptions) => {
    const [{ replay: replayFile }, { replayJson, replayText }] = await Promise.all([import('./replay.js'), import('./replay-output.js')]);
    const printed = new Set<string>();
    const warn = (message: string): void => {
      if (!printed.has(message)) io.stderr(`evictd: ${message}\n`);
      printed.add(message);
    };
    const report = await replayFile(file, otherConfig(options, warn));
    io.stdout(output === 'json' ? replayJson(report) : replayText(report, styleFor(io)));
  });
}

/** undefined: no option changes a decision. */
function otherConfig({ config, configDir, ...flags }: ConfigOptions, warn: (message: string) => void): OtherConfig | undefined {
  const warning = (loaded: LoadedConfig): LoadedConfig => {
    for (const { level, message } of loaded.notices) if (level === 'warn') warn(message);
    return loaded;
  };
  if (config !== undefined || configDir !== undefined) {
    const files = { ...(config !== undefined && { config }), ...(configDir !== undefined && { configDir }) };
    const loaded = warning(configFromOptions({ ...files, ...flags }));
    return () => loaded;
  }
  const given = Object.keys(flags);
  if (given.some(changesDecisions)) {
    const other = recordedWith(flags);
    return (recorded) => warning(other(recorded));
  }
  if (given.length > 0) warn(`${given.map(flagText).join(', ')} changes no decision: replayed as recorded`);
  return undefined;
}
