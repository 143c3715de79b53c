import type { LoadedConfig } from '../../config/config.js';
import { normalCgroupPath } from '../../core/workload/cgroup.js';
import { selectHost } from '../../host/select.js';
import { restartRecord } from '../../journal/records/node-records.js';
import type { StepListener, UnitManager, WorkloadSource } from '../../monitor/ports/ports.js';
import type { PodEvictions } from '../../monitor/ports/node-pods.js';
import { ContainerNames } from '../../workloads/cri/container-names.js';
import { withUnitStops } from '../../workloads/systemd/unit-stops.js';
import { ReplaceableSource, type CandidateDecorator } from '../candidates.js';
import { withNodeOf, type Configure } from '../../node/configuration-in-force.js';
import { ManagedUnitSettings } from '../../node/managed-units.js';
import { ContainerRuntimes } from '../../node/container-runtimes.js';
import { DryRunPlaces } from '../../features/kubernetes/cluster/dry-run-places.js';
import { leaveCluster } from '../../features/kubernetes/open.js';
import { deletionSection, savedDeletion, savedNode } from '../../features/kubernetes/saved-sections.js';
import type { ClusterReportsParts } from '../../features/kubernetes/reports/cluster-reports.js';
import { openDisks, type Disks } from '../../features/disk/open.js';
import { KernelKills } from '../../features/oom/open.js';
import { openApiServer } from '../../node/api-server.js';
import { openSources } from '../../node/open-reading.js';
import type { Locked } from './lock.js';
import type { Published } from './publish.js';

/** Everything that evictd reads besides the node. */
export interface Observed {
  readonly units: UnitManager;
  readonly runtimes: ContainerRuntimes;
  /** With everything that decorators know of the candidates. */
  readonly workloads: WorkloadSource;
  readonly disks: Disks;
  readonly kernelKills: KernelKills;
  readonly containerNames: ContainerNames;
  readonly managedUnits: ManagedUnitSettings;
  /** undefined: no API server is configured, or evictd makes a dry run. */
  readonly podEvictions: PodEvictions | undefined;
  readonly listeners: readonly StepListener[];
  readonly reload: readonly Configure[];
}

export function observe({ options, node, inForce, instance, log, closers }: Locked, published: Published): Observed {
  const { journal, recorder, status } = published;
  const { dryRun, env } = options;
  const units = closers.add(selectHost().openUnitManager());
  const runtimes = closers.add(new ContainerRuntimes());
  const managedUnits = closers.add(new ManagedUnitSettings());
  const containerNames = new ContainerNames(false);
  const acting = actingParts(published);
  const kubernetes = openApiServer(inForce.started, instance, { env, dryRun, log, ...(!dryRun && { acting }) });
  if (kubernetes) status.kubernetes = closers.add(kubernetes).status;
  const left = kubernetes === undefined && !dryRun ? leaveCluster({ env, log, acting }) : undefined;
  const places = dryRun && inForce.started.kubernetes && new DryRunPlaces(inForce.started.kubernetes, log);
  const reports = kubernetes?.reports ?? (left && closers.add(left));
  const open = (loaded: LoadedConfig): WorkloadSource => {
    const config = withNodeOf(inForce.started, loaded.config);
    const managers = { units, runtimes: runtimes.of(config), nodePods: kubernetes, containerNames, managedOom: managedUnits.of(config) };
    return openSources({ ...loaded, config }, node, true, managers);
  };
  const configured = closers.add(new ReplaceableSource(open(inForce.loaded)));
  const disks = openDisks(inForce, { node, workloads: configured, runtimes, log, journal });
  const decorators: readonly CandidateDecorator[] = [
    (source) => disks.watch.on(source),
    (source) => withUnitStops(source, units, inForce.isProtected),
    (source) => recorder?.watching(source) ?? source,
  ];
  const workloads = decorators.reduce<WorkloadSource>((source, decorate) => decorate(source), configured);
  const { allocatable } = inForce.started;
  const guarded = { node: node.identity.cgroup, allocatable: allocatable && normalCgroupPath(allocatable.cgroup) };
  const kernelKills = closers.add(new KernelKills({ node, guarded, workloads, log, journal, metrics: status }));
  return {
    units,
    runtimes,
    workloads,
    disks,
    kernelKills,
    containerNames,
    managedUnits,
    podEvictions: kubernetes?.reports,
    listeners: [
      kernelKills,
      disks.filesystems,
      disks.watch,
      disks.space,
      ...(reports ? [reports] : []),
      ...(places ? [closers.add(places)] : []),
    ],
    reload: [
      (next) => {
        const before = configured.replace(open(next));
        containerNames.renew();
        before.close();
        runtimes.keepOnly(next.config);
        managedUnits.keepOnly(next.config);
      },
    ],
  };
}

/** What evictd needs to write at an API server. */
function actingParts({ journal, saved: { restored, keeper }, status }: Published): ClusterReportsParts {
  const onRestart: ClusterReportsParts['onRestart'] = (pod) => {
    journal.record(restartRecord(pod));
    status.podRestarted();
  };
  const sections = {
    section: deletionSection(keeper.section('kubernetes', savedDeletion)),
    nodeSection: keeper.section('kubernetes-node', savedNode),
  };
  return { restored, bootId: selectHost().readBootId(), ...sections, metrics: status, onRestart };
}
