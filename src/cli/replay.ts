import { Command, Option } from 'commander';
import type { Io } from './io.js';
import { addConfigOptions, configFromOptions, type ConfigOptions } from './options.js';
import { styleFor } from './output/style.js';

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
Touches nothing and needs no rights but to read the file. With a configuration, or a flag of one, the same run is also decided under that: who
would have been evicted, when and why, and what had to be assumed (docs/replay.md).

Examples:
  evictd run --record /var/lib/evictd/recording.gz
  evictd replay /var/lib/evictd/recording.gz
  evictd replay /var/lib/evictd/recording.gz --config new.yaml
  evictd replay recording.gz --eviction-hard 'memory.available<500Mi' --output json | jq '.runs[].other.differences'

Exit: 0 replayed, 64 usage, 65 the file is no recording or damaged, 66 it cannot be read, 78 configuration.`,
    )
    .action(async (file: string, { output, ...options }: ReplayOptions) => {
      const other = Object.keys(options).length === 0 ? undefined : configFromOptions(options);
      const [{ replay }, { replayJson, replayText }] = await Promise.all([import('./replay/replay.js'), import('./output/replay.js')]);
      for (const { level, message } of other?.notices ?? []) if (level === 'warn') io.stderr(`evictd: ${message}\n`);
      const report = await replay(file, other?.config);
      io.stdout(output === 'json' ? replayJson(report) : replayText(report, styleFor(io)));
    });
}
