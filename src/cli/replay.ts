import { Command, Option } from 'commander';
import type { LoadedConfig } from '../config/config.js';
import type { Io } from './io.js';
import { addConfigOptions, configFromOptions, type ConfigOptions } from './options.js';
import { styleFor } from './output/style.js';
import { flagText, isDeciding, recordedWith, type OtherConfig } from './replay/other-config.js';

interface ReplayOptions extends ConfigOptions {
  readonly output: 'text' | 'json';
}

/** `evictd replay`: the decisions of a recorded run, once more or under another configuration. */
export function replayCommand({ io }: { readonly io: Io }): Command {
  const command = new Command('replay')
    .argument('<file>', 'what evictd run --record has written')
    .description('decide a recorded run once more, or with another configuration')
    .addOption(new Option('-o, --output <format>', 'output format').choices(['text', 'json']).default('text'));
  return addConfigOptions(command)
    .addHelpText(
      'after',
      `
Touches nothing and needs no rights but to read the file. With --config the same run is also decided under that configuration; with flags and no
--config under the recorded one with these flags: who would have been evicted, when and why, and what had to be assumed (docs/replay.md).

Examples:
  evictd run --record /var/lib/evictd/recording.gz
  evictd replay /var/lib/evictd/recording.gz
  evictd replay /var/lib/evictd/recording.gz --config new.yaml
  evictd replay recording.gz --eviction-hard 'memory.available<500Mi' --output json | jq '.runs[].other.differences'

Exit: 0 replayed, 64 usage, 65 the file is no recording or damaged, 66 it cannot be read, 78 configuration.`,
    )
    .action(async (file: string, { output, ...options }: ReplayOptions) => {
      const [{ replay }, { replayJson, replayText }] = await Promise.all([import('./replay/replay.js'), import('./output/replay.js')]);
      const said = new Set<string>();
      const warn = (message: string): void => {
        if (!said.has(message)) io.stderr(`evictd: ${message}\n`);
        said.add(message);
      };
      const report = await replay(file, otherConfig(options, warn));
      io.stdout(output === 'json' ? replayJson(report) : replayText(report, styleFor(io)));
    });
}

/** undefined: the options name none. */
function otherConfig({ config, ...flags }: ConfigOptions, warn: (message: string) => void): OtherConfig | undefined {
  const warning = (loaded: LoadedConfig): LoadedConfig => {
    for (const { level, message } of loaded.notices) if (level === 'warn') warn(message);
    return loaded;
  };
  if (config !== undefined) {
    const loaded = warning(configFromOptions({ config, ...flags }));
    return () => loaded;
  }
  const given = Object.keys(flags);
  if (given.some(isDeciding)) {
    const other = recordedWith(flags);
    return (recorded) => warning(other(recorded));
  }
  if (given.length > 0) warn(`no decision depends on ${given.map(flagText).join(', ')}: replayed as recorded`);
  return undefined;
}
