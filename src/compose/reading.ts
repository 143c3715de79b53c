import type { LoadedConfig } from '../config/config.js';
import type { CgroupHierarchy } from '../core/cgroup.js';
import { selectHost, type LinuxNode, type NotifierMode } from '../host/select.js';
import type { WorkloadSource } from '../monitor/ports.js';
import { native } from '../native/index.js';
import { openWorkloads } from '../workloads/cgroup.js';

export interface Reading {
  readonly node: LinuxNode;
  readonly workloads: WorkloadSource;
  close(): void;
}

/**
 * What `run` reads with. In a file of its own, because `check` needs no more than this, and starts faster without the rest.
 *
 * Throws UnavailableError where the node is missing.
 */
export function openReading({ config }: LoadedConfig, notifiers: NotifierMode): Reading {
  const node = selectHost().openNode(config, native, notifiers);
  const workloads = openWorkloads(config, native, node, notifiers !== 'probe');
  return {
    node,
    workloads,
    close: () => {
      workloads.close();
      node.close();
    },
  };
}

/** The memory controller's hierarchy and this process's cgroup in it: where the demo may make its node. */
export function memoryHierarchy(): { readonly hierarchy: CgroupHierarchy; readonly own: string | undefined } | undefined {
  const host = selectHost();
  const hierarchy = host.readHierarchies().memory;
  return hierarchy && { hierarchy, own: host.ownMemoryCgroup(hierarchy) };
}
