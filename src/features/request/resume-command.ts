import { Command } from 'commander';
import type { MakeCommand } from '../../cli/output/command.js';
import { outputOption, USAGE_AND_CONFIG, withHelp } from '../../cli/output/help.js';
import { addConfigOptions, configForLooking, type ConfigOptions } from '../../cli/output/options.js';
import { answerText, type OutputFormat } from '../../cli/output/request-answer.js';
import { askEvictd } from '../../node/control-client.js';
import { answered, processId } from './answered.js';

/** `evictd resume`. Asks on the socket, so that the journal has the user and the process; else by the signal. */
export const resume: MakeCommand = ({ io }) => {
  const command = new Command('resume')
    .description('end all pauses: the running evictd evicts again')
    .option('--pid <pid>', 'process ID of the running evictd', processId)
    .addOption(outputOption());
  return withHelp(addConfigOptions(command), {
    about: [
      'evictd pauses evictions for a resource when the eviction budget is used up, when the last eviction freed too little, or when a protected consumer took the freed memory. This command ends these pauses, those of evictd pause and the safe mode after crashes, and resets the budget. First find out what grows: see the alert.',
    ],
    examples: ['evictd resume', 'evictd resume --config other.yaml   if evictd was started with that file'],
    exit: {
      0: 'evictd evicts again where a threshold requires it',
      ...USAGE_AND_CONFIG,
      75: 'no evictd guards the node, or it does not answer',
    },
  }).action(async ({ pid, output, ...options }: ConfigOptions & { readonly pid?: number; readonly output: OutputFormat }) => {
    const { config } = configForLooking(options, io).loaded;
    const lifted = pid === undefined ? await askEvictd(config, { method: 'POST', path: '/api/v1/resume' }) : undefined;
    const { ask } = await import('./open.js');
    const answer = lifted ?? {
      message: (await answered(ask('resume', config, pid, false), 'resume')).message ?? 'it has resumed evictions',
    };
    io.stdout(answerText(answer, output));
  });
};
