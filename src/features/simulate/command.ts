import { Command } from 'commander';
import type { MakeCommand } from '../../cli/output/command.js';
import { withHelp } from '../../cli/output/help.js';
import { Cluster } from '../../core/scheduling/cluster/cluster.js';
import type { PodOwner } from '../../core/scheduling/cluster/default-selector.js';
import { DEFAULT_PROFILE, type SchedulerProfile } from '../../core/scheduling/scheduler-profile.js';
import { Scheduler } from '../../core/scheduling/scheduler.js';
import { schedulingGateReason } from '../../core/scheduling/scheduling-queue.js';
import { UsageError } from '../../errors.js';
import { documentOf, items, member, textOf, type Field } from '../../kubernetes/document.js';
import { readDocument } from '../../kubernetes/document-file.js';
import { disruptionBudgetAt, namespaceAt, ownerAt, serviceAt } from '../../kubernetes/scheduling/cluster-objects.js';
import { schedulerNodeAt } from '../../kubernetes/scheduling/scheduler-node.js';
import { schedulerPodAt } from '../../kubernetes/scheduling/scheduler-pod.js';
import { schedulerProfileAt } from '../../kubernetes/scheduling/scheduler-profile.js';

const DUMP = { maxBytes: 512 * 1024 * 1024, hint: 'use the output of kubectl get nodes,pods,services,replicasets,namespaces -A -o json' };

const CONFIG = { maxBytes: 1024 * 1024, hint: 'convert it to JSON: yq -o json config.yaml' };

const OWNERS = ['ReplicationController', 'ReplicaSet', 'StatefulSet'] as const satisfies readonly PodOwner['kind'][];

export const simulate: MakeCommand = ({ io, setExitCode }) => {
  const command = new Command('simulate')
    .description("show which node Kubernetes' scheduler chooses for a pod")
    .argument('<files...>', 'what kubectl get prints with -o json')
    .requiredOption('--pod <namespace/name>', 'the pod that waits for a node')
    .option('--scheduler-config <file>', 'a KubeSchedulerConfiguration as JSON: its first profile');
  return withHelp(command, {
    examples: ['evictd simulate dump.json --pod shop/web-0'],
    exit: { 0: 'there is a node', 1: 'the pod waits', 64: 'wrong usage', 65: 'a file is malformed', 66: 'a file cannot be read' },
  }).action((files: readonly string[], { pod: wanted, schedulerConfig }: SimulateOptions) => {
    const objects = files.flatMap((file) => readDocument(file, DUMP, (document) => items(member(documentOf(document), 'items'))));
    const list = (kind: string): readonly Field[] => objects.filter((object) => textOf(member(object, 'kind')) === kind);
    const pods = list('Pod').filter(isActive).map(schedulerPodAt);
    const pod = pods.find(({ namespace, name }) => `${namespace}/${name}` === wanted);
    if (pod === undefined)
      throw new UsageError('EVICTD_SIMULATE_POD', `no pod ${wanted} in ${files.join(', ')}`, { hint: 'name one as NAMESPACE/NAME' });
    const cluster = new Cluster({
      nodes: list('Node').map(schedulerNodeAt),
      pods: pods.filter((other) => other !== pod),
      namespaces: new Map(list('Namespace').map(namespaceAt)),
      services: list('Service').map(serviceAt),
      owners: OWNERS.flatMap((kind) => list(kind).map((owner) => ownerAt(owner, kind))),
    });
    const scheduler = new Scheduler(cluster, { profile: profileOf(schedulerConfig) });
    const result = scheduler.schedule(pod);
    const gated = schedulingGateReason(pod);
    if (gated === undefined && result.node !== undefined) {
      io.stdout(`${wanted} runs on ${result.node}\n`);
      return;
    }
    const { candidate, message } = scheduler.preempt(pod, result, list('PodDisruptionBudget').map(disruptionBudgetAt));
    const victims = candidate?.victims.map(({ namespace, name }) => `${namespace}/${name}`).join(', ') ?? '';
    io.stdout(`${wanted} waits: ${gated ?? `${result.message} ${candidate === undefined ? message : ''}`.trim()}\n`);
    if (gated === undefined && candidate !== undefined) io.stdout(`it preempts on ${candidate.node}: ${victims}\n`);
    setExitCode(1);
  });
};

interface SimulateOptions {
  readonly pod: string;
  readonly schedulerConfig?: string;
}

function profileOf(file: string | undefined): SchedulerProfile {
  if (file === undefined) return DEFAULT_PROFILE;
  return readDocument(file, CONFIG, (document) => {
    const [profile] = items(member(documentOf(document), 'profiles'));
    return profile === undefined ? DEFAULT_PROFILE : schedulerProfileAt(profile);
  });
}

function isActive(pod: Field): boolean {
  return !['Succeeded', 'Failed'].includes(textOf(member(member(pod, 'status'), 'phase')));
}
