import { Command } from 'commander';
import type { MakeCommand } from '../../cli/output/command.js';
import { outputOption, USAGE_AND_CONFIG, withHelp } from '../../cli/output/help.js';
import { addConfigOptions, configFromOptions, type ConfigOptions } from '../../cli/output/options.js';
import { printable } from '../../core/name/printable.js';
import { jsonDocument } from '../../core/name/json-text.js';
import { answerText, type OutputFormat } from '../../cli/output/request-answer.js';
import { askRunning, type ControlRequest } from '../../node/control-client.js';

/** The part of GET /api/v1/status. */
interface TaintsOfStatus {
  readonly taints: readonly {
    readonly taint: string;
    readonly from: 'configuration' | 'operator' | 'condition';
    readonly evictions: readonly { readonly name: string; readonly endsAt: string }[];
  }[];
}

export const taint: MakeCommand = ({ io }) => {
  const command = new Command('taint')
    .description('keep workloads off this machine: set, remove or list taints')
    .argument('[taints...]', 'KEY=VALUE:EFFECT sets one, KEY- or KEY:EFFECT- removes; none: list them')
    .addOption(outputOption());
  return withHelp(addConfigOptions(command), {
    about: [
      'As kubectl taint. NoSchedule: evictd admit refuses workloads that do not tolerate the taint. PreferNoSchedule: it warns. NoExecute: evictd also ends them, at once or after tolerationSeconds of their rule. A taint stays until it is removed or the machine is restarted.',
    ],
    examples: ['evictd taint maintenance=yes:NoExecute', 'evictd taint maintenance-', 'evictd taint'],
    exit: {
      0: 'done',
      1: 'failure at run time',
      ...USAGE_AND_CONFIG,
      75: 'no evictd guards the node, or it does not answer',
    },
  }).action(async (taints: readonly string[], { output, ...options }: ConfigOptions & { readonly output: OutputFormat }) => {
    const { config } = configFromOptions(options);
    const ask = (request: ControlRequest): Promise<unknown> => askRunning(config, request, 'EVICTD_TAINT_NO_INSTANCE');
    if (taints.length > 0) {
      const answer = await ask({ method: 'POST', path: '/api/v1/taints', body: JSON.stringify({ taints }) });
      io.stdout(answerText(answer, output));
      return;
    }
    const { taints: all } = (await ask({ method: 'GET', path: '/api/v1/status' })) as TaintsOfStatus;
    io.stdout(output === 'json' ? jsonDocument({ taints: all }) : `${listed(all).join('\n') || 'no taints'}\n`);
  });
};

function listed(taints: TaintsOfStatus['taints']): readonly string[] {
  return taints.flatMap(({ taint: text, from, evictions }) => [
    `${text}${from === 'operator' ? '' : ` (${from})`}`,
    ...evictions.map(({ name, endsAt }) => `  ${printable(name)} is evicted at ${endsAt}`),
  ]);
}
