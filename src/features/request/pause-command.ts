import { Command } from 'commander';
import type { MakeCommand } from '../../cli/output/command.js';
import { outputOption, USAGE_AND_CONFIG, withHelp } from '../../cli/output/help.js';
import { addConfigOptions, configForLooking, type ConfigOptions } from '../../cli/output/options.js';
import { answerText, type OutputFormat } from '../../cli/output/request-answer.js';
import { askRunning } from '../../node/control-client.js';

interface PauseOptions extends ConfigOptions {
  readonly reason: string;
  readonly workload?: string;
  readonly output: OutputFormat;
}

export const pause: MakeCommand = ({ io }) => {
  const command = new Command('pause')
    .description('evict nothing for a time')
    .argument('<time>', 'how long: 30m, 1h30m')
    .requiredOption('--reason <text>', 'why, for the log, the journal and the metrics')
    .option('--workload <name>', 'protect only this workload, by its name or path in evictd rank')
    .addOption(outputOption());
  return withHelp(addConfigOptions(command), {
    about: [
      "For maintenance. Thresholds only alert meanwhile, and policies only notify. The pause ends by itself, at the latest after pause.max of the configuration, or with evictd resume. Until then the kernel's OOM killer is all that is left.",
    ],
    examples: ["evictd pause 1h --reason 'heap dump' --workload web"],
    exit: {
      0: 'evictions are paused',
      1: 'failure at run time',
      ...USAGE_AND_CONFIG,
      75: 'no evictd guards the node, or it does not answer',
    },
  }).action(async (time: string, { reason, workload, output, ...options }: PauseOptions) => {
    const body = JSON.stringify({ for: time, reason, workload });
    const request = { method: 'POST', path: '/api/v1/pause', body } as const;
    const answer = await askRunning(configForLooking(options, io).loaded.config, request, 'EVICTD_PAUSE_NO_INSTANCE');
    io.stdout(answerText(answer, output));
  });
};
