import { Command, InvalidArgumentError, Option } from 'commander';
import { UsageError } from '../../errors.js';
import type { CommandEdge } from '../../cli/output/command.js';
import { outputOption, SHARED_GROUPS, USAGE_AND_CONFIG, withHelp } from '../../cli/output/help.js';
import type { SimulateOptions, WrittenAction } from './written-command.js';

/** `evictd simulate`: its implementation is a bundle of its own. */
export function simulate(edge: Pick<CommandEdge, 'io' | 'setExitCode'>): Command {
  const actions: WrittenAction[] = [];
  const command = new Command('simulate')
    .description(
      'simulate which pods a drain, a taint or memory pressure evicts, and where their replacements run. FILES: kubectl get -o json ("-": standard input)',
    )
    .argument('[files...]');
  for (const [option, value, description] of ACTIONS) {
    command.addOption(new Option(`--${option} ${value}`, description).argParser((text: string) => noted(actions, option, text)));
  }
  command
    .option('--kubeconfig <file>', 'read the cluster from its API server')
    .option('--explain <pod>', 'every filter and score of every node for this pod')
    .option('--html <file>', 'write a page with the nodes before and after')
    .addOption(outputOption())
    .optionsGroup(SHARED_GROUPS.assumptions)
    .addOption(
      new Option('--replicas <number>', 'number of pods of the --add before it').argParser((text: string) => replicas(actions, text)),
    )
    .option('--policy <file>', "the kubelets' configuration (default: the kubelet's defaults)")
    .option('--scheduler-config <file>', 'the scheduler: a KubeSchedulerConfiguration')
    .option('--start-time <duration>', 'time until a new pod is ready, from its binding', '30s')
    .option('--horizon <duration>', 'time that each action has before the next one', '1h')
    .option('--scores', 'the scores behind each choice of a node')
    .option('--strict', 'do nothing if anything in the input is wrong')
    .optionsGroup('Options:');
  return withHelp(command, {
    examples: ['evictd simulate dump.json --drain node-1 --pressure node-2:memory=-20Gi'],
    exit: {
      0: 'simulated',
      ...USAGE_AND_CONFIG,
      1: 'the API server does not answer or refuses',
      65: 'malformed input',
      66: 'a file cannot be read or written',
    },
  }).action(async (files: readonly string[], options: SimulateOptions) => {
    if (files.length === 0 && options.kubeconfig === undefined)
      throw new UsageError('EVICTD_USAGE', 'neither a file nor --kubeconfig is given', {
        hint: 'kubectl get nodes,pods,pdb -A -o json > dump.json',
      });
    const { simulate: run } = await import('./simulate.js');
    await run(files, actions, options, edge.io);
  });
}

const ACTIONS: readonly (readonly [option: WrittenAction['option'], value: string, description: string])[] = [
  ['pressure', '<limit>', 'NODE:memory=20Gi is available; -20Gi: 20Gi less'],
  ['drain', '<node>', 'cordon it, evict its pods as budgets allow'],
  ['taint', '<what...>', 'NODE KEY=VALUE:EFFECT'],
  ['fail', '<node>', 'the kubelet of this node stops answering'],
  ['add', '<file>', 'add pods: of a Pod, Deployment, StatefulSet, …'],
];

function noted(actions: WrittenAction[], option: WrittenAction['option'], text: string): true {
  const last = actions.at(-1);
  if (option === 'taint' && last?.option === 'taint' && last.values.length === 1) last.values.push(text);
  else actions.push({ option, values: [text] });
  return true;
}

function replicas(actions: readonly WrittenAction[], text: string): true {
  const last = actions.at(-1);
  const count = Number(text);
  if (last?.option !== 'add') throw new InvalidArgumentError('It follows --add.');
  if (!/^\d+$/.test(text) || count < 1 || count > 10_000) throw new InvalidArgumentError('Use a number from 1 to 10000.');
  last.replicas = count;
  return true;
}
