import { writeFileSync } from 'node:fs';
import type { Io } from '../../cli/output/io.js';
import { loadKubelet } from '../../config/load.js';
import { DurationError, parseDuration } from '../../core/quantity/duration.js';
import { nodeUses, outcomeOf } from '../../core/simulation/outcome.js';
import { DEFAULT_PROFILES, type SchedulerProfiles } from '../../core/scheduling/scheduler-profile.js';
import { Simulation } from '../../core/simulation/simulation.js';
import { InputError, UsageError, messageOf } from '../../errors.js';
import { kubeconfigAccess } from '../kubernetes/client/kubeconfig.js';
import { AddedPods } from './added-pods.js';
import { ClusterDump, type DumpedCluster } from '../kubernetes/cluster/cluster-dump.js';
import { readSchedulerConfig } from './scheduler-config.js';
import type { SimulateOptions, WrittenAction } from './written-command.js';
import { findingText } from '../kubernetes/cluster/finding.js';
import { readLiveCluster } from '../kubernetes/cluster/live-cluster.js';
import { simulationHtml } from './simulation-html.js';
import { simulationJson } from './simulation-json.js';
import { simulationText } from './simulation-text.js';
import type { SimulationReport } from './simulation-report.js';
import { actionsOf } from './written-actions.js';

/** `evictd simulate` on files, or on what the API server of a kubeconfig has. */
export async function simulate(
  files: readonly string[],
  written: readonly WrittenAction[],
  options: SimulateOptions,
  io: Io,
): Promise<void> {
  const dump = new ClusterDump();
  if (options.kubeconfig !== undefined) await readLiveCluster(kubeconfigAccess(options.kubeconfig), dump);
  for (const file of files) dump.readFile(file);
  report(dump.cluster(), written, options, io);
}

function report(cluster: DumpedCluster, written: readonly WrittenAction[], options: SimulateOptions, io: Io): void {
  const { schedulerConfig } = options;
  const profiles = schedulerConfig === undefined ? DEFAULT_PROFILES : readSchedulerConfig(schedulerConfig, cluster.findings);
  const findings = cluster.findings.list;
  for (const finding of findings) io.stderr(`${findingText(finding)}\n`);
  if (options.strict && findings.length > 0)
    throw malformed(
      `${String(findings.length)} finding${findings.length === 1 ? '' : 's'}: --strict permits none`,
      'correct them, or leave --strict out: evictd then simulates with the rest',
    );
  if (cluster.content.nodes.length === 0) throw malformed('the input has no node', KUBECTL);
  const added = new AddedPods(cluster.priorityClasses);
  const actions = actionsOf(written, cluster, added);
  const owners = [...(cluster.content.owners ?? []), ...added.owners];
  const simulation = simulationOf({ ...cluster, content: { ...cluster.content, owners } }, profiles, options);
  const before = nodeUses(simulation.world.cluster);
  for (const action of actions) simulation.run(action);
  const { events, pods } = simulation;
  const explained = explanationOf(simulation, options.explain);
  const result: SimulationReport = {
    cluster,
    options,
    before,
    after: nodeUses(simulation.world.cluster),
    events,
    outcome: outcomeOf(events, pods),
    ...explained,
  };
  if (options.html !== undefined) writePage(options.html, simulationHtml(result));
  io.stdout(options.output === 'json' ? simulationJson(result) : simulationText(result));
}

/** @throws InputError  the file cannot be written */
function writePage(file: string, page: string): void {
  try {
    writeFileSync(file, page);
  } catch (cause) {
    throw new InputError('EVICTD_SIMULATE_PAGE', `${file} cannot be written: ${messageOf(cause)}`, { isMissing: true, cause });
  }
}

function explanationOf(simulation: Simulation, pod: string | undefined): Pick<SimulationReport, 'explained'> {
  if (pod === undefined) return {};
  const nodes = simulation.explain(pod);
  if (nodes === undefined)
    throw new UsageError('EVICTD_SIMULATE_POD', `no pod ${JSON.stringify(pod)} in the input`, { hint: 'name one as NAMESPACE/NAME' });
  return { explained: { pod, nodes } };
}

function simulationOf(cluster: DumpedCluster, profiles: SchedulerProfiles, { policy, startTime, horizon }: SimulateOptions): Simulation {
  const { config } = loadKubelet({ file: policy });
  return new Simulation({
    content: cluster.content,
    settings: { startTimeNs: durationOf('--start-time', startTime), nowNs: latestStart(cluster) },
    kubelet: config,
    profiles,
    horizonNs: durationOf('--horizon', horizon),
  });
}

/** The dump is at least as young as its youngest pod. */
function latestStart({ content }: DumpedCluster): bigint {
  return content.pods.reduce((latest, { scheduling: { startNs = 0n } }) => (startNs > latest ? startNs : latest), 0n);
}

function durationOf(option: string, text: string): bigint {
  const hint = 'write a duration such as 30s or 5m';
  try {
    const duration = parseDuration(text);
    if (duration < 0n) throw new UsageError('EVICTD_USAGE', `${option}: ${text} is negative`, { hint });
    return duration;
  } catch (error) {
    if (!(error instanceof DurationError)) throw error;
    throw new UsageError('EVICTD_USAGE', `${option}: ${error.message}`, { hint });
  }
}

const KUBECTL =
  'kubectl get nodes,pods,pdb,priorityclasses,namespaces,services,replicasets,statefulsets,pvc,pv,' +
  'storageclasses,csinodes,csidrivers,csistoragecapacities -A -o json > dump.json';

function malformed(message: string, hint: string): InputError {
  return new InputError('EVICTD_KUBERNETES_DOCUMENT', message, { isMissing: false, hint });
}
