import type { LoadedConfig } from '../config/config.js';
import type { CgroupHierarchy } from '../core/workload/cgroup.js';
import type { FilesystemPaths, FilesystemRole } from '../core/signal/layout.js';
import type { Workload } from '../core/workload/workload.js';
import { hierarchiesBeside } from '../core/workload/cgroup.js';
import { selectHost, type LinuxNode, type NotifierMode } from '../host/select.js';
import type { ManagedOom } from '../monitor/ports/managed-oom.js';
import type { ContainerRuntime, WorkloadSource } from '../monitor/ports/ports.js';
import { native } from '../native/index.js';
import { asWindows } from '../native/windows-addon.js';
import * as disks from './disk-parts.js';
import { openWorkloads } from '../workloads/cgroup/cgroup-workloads.js';
import type { FactSources } from '../workloads/cgroup/workloads-node.js';
import type { DiskMeasurement } from '../workloads/disk/disk-measurement.js';
import { FoundFilesystems } from '../workloads/disk/found-filesystems.js';
import { CgroupNames } from '../workloads/cgroup/cgroup-names.js';
import { unitProtectionOf, withManaged } from '../workloads/systemd/managed-workloads.js';
import { selectsManaged, withOtherSources, type WorkloadSourceSpec } from '../workloads/kinds/source-spec.js';
import * as windows from '../workloads/windows/windows-workloads.js';

/** Sources of facts besides the kernel. The caller closes them. */
export interface Managers extends FactSources {
  /** undefined: no unit counts as managed. */
  readonly managedOom?: ManagedOom | undefined;
}

/** A Reading with the parts that only this host's node has. */
export interface HostReading {
  readonly node: LinuxNode;
  readonly workloads: WorkloadSource;
  /** The workloads of one entry alone, for a single reading. The caller closes it. */
  readonly openAlone: (entry: WorkloadSourceSpec) => WorkloadSource;
  readonly measureDisks: (filesystem: FilesystemRole) => Promise<DiskMeasurement>;
  close(): void;
}

/**
 * Opens what `run` reads: the node and its workloads. `check` needs only this, and starts faster without the rest.
 *
 * Throws UnavailableError if the node does not exist.
 *
 * @param managers  left out: systemd and container runtimes are not asked
 */
export function openReading(loaded: LoadedConfig, notifiers: NotifierMode, managers: Managers = {}): HostReading {
  const node = selectHost().openNode(loaded.config, native, notifiers);
  const workloads = openSources(loaded, node, notifiers !== 'probe', managers);
  return {
    node,
    workloads,
    openAlone: (entry) => openSources({ ...loaded, config: { ...loaded.config, workloads: [entry] } }, node, false, managers),
    measureDisks: async (filesystem) => {
      const runtimes = (): readonly ContainerRuntime[] => managers.runtimes ?? [];
      const filesystems = await foundFilesystems(loaded.config.filesystems, runtimes());
      const parts = disks.openDiskParts(filesystems, runtimes);
      const { directories, containers, trees, images } = parts;
      const known = workloadsOf(workloads);
      await Promise.all([directories.refresh(known), containers.refresh(known)]);
      await Promise.all([trees.walk([filesystem]), images.refresh()]);
      return disks.measureNodeDisks(node.hierarchy, filesystems, parts);
    },
    close: () => {
      workloads.close();
      node.close();
    },
  };
}

/** The filesystems for a single reading: the configured ones, or those that the runtimes report now. */
export async function foundFilesystems(configured: FilesystemPaths, runtimes: readonly ContainerRuntime[]): Promise<FilesystemPaths> {
  const found = new FoundFilesystems(
    configured,
    native,
    () => runtimes,
    () => undefined,
  );
  await found.look(process.hrtime.bigint());
  return found;
}

/** The workloads that can be read now. */
export function workloadsOf(source: Pick<WorkloadSource, 'candidates'>): readonly Workload[] {
  return source.candidates().usages.map(({ workload }) => workload);
}

/** The workloads of a configuration on a node. `watched`: for repeated readings. */
export function openSources(
  { config }: LoadedConfig,
  { identity, hierarchy }: LinuxNode,
  watched: boolean,
  { managedOom, ...facts }: Managers,
): WorkloadSource {
  const host = selectHost();
  if (host.os === 'windows') return withOtherSources(windows.openWindowsWorkloads(config, asWindows(native)), config.workloads);
  const hierarchies = host.readHierarchies();
  const place = { identity, hierarchy, pids: hierarchies.pids, beside: hierarchy ? hierarchiesBeside(hierarchy, hierarchies) : [] };
  const cgroups = openWorkloads(config, native, place, watched, facts);
  const openManaged = (managed: () => readonly string[]): WorkloadSource =>
    openWorkloads({ ...config, workloads: [] }, native, place, watched, { ...facts, runtimes: [], nodePods: undefined, managed });
  if (managedOom === undefined || hierarchy === undefined || !selectsManaged(config.workloads))
    return withOtherSources(cgroups, config.workloads);
  const protectionOf = unitProtectionOf(config.rules, new CgroupNames(hierarchy, facts.operators));
  return withOtherSources(withManaged(cgroups, managedOom, openManaged, protectionOf), config.workloads);
}

/** The hierarchy of the memory controller, and this process's cgroup in it: the demo creates its node there. */
export function memoryHierarchy(): { readonly hierarchy: CgroupHierarchy; readonly own: string | undefined } | undefined {
  const host = selectHost();
  const hierarchy = host.readHierarchies().memory;
  return hierarchy && { hierarchy, own: host.ownMemoryCgroup(hierarchy) };
}
