import { existsSync, statSync } from 'node:fs';
import { departuresOf, type Departures } from '../../core/decide/departures.js';
import { cgroupDirectory, normalCgroupPath } from '../../core/workload/cgroup.js';
import type { FilesystemPaths } from '../../core/signal/layout.js';
import type { Threshold } from '../../core/threshold/threshold.js';
import { UnavailableError } from '../../errors.js';
import type { Binding } from '../../native/binding.js';
import { openAllocatable } from './memory/allocatable.js';
import { containerRoot, readHierarchies, showsRootCgroup, type Hierarchies } from './cgroup/hierarchies.js';
import { cgroupPlan, MemoryNotifiers, type WatchPlan } from './memory/memory-notifiers.js';
import { cgroupMemory } from './memory/cgroup-memory.js';
import { LinuxNodeReader, type LinuxNode, type NodeParts } from './node-reader.js';
import { bindingFor, planFor, type NotifierMode } from './sampling/notifier-mode.js';
import { cgroupOomKills, machineOomKills } from './oom/oom-kills.js';
import { PressureAndSwap, type PressureAndSwapPlan } from './pressure/pressure-and-swap.js';
import { pidsSource } from './cgroup/pids.js';
import { MACHINE_PRESSURE, MACHINE_PRESSURE_FOR_V1 } from './pressure/pressure.js';
import { amountSources } from './memory/swap.js';
import { fsPath } from '../../byte-paths.js';
import { MACHINE_STALLS, watchedMachine, type WatchedMemory } from './watched-memory.js';

export type { LinuxNode } from './node-reader.js';
export type { NotifierMode } from './sampling/notifier-mode.js';

export interface NodeConfig {
  /** `cgroup`: a path below the mount of the memory controller; undefined: the machine. */
  readonly node: { readonly cgroup: string | undefined };
  readonly filesystems: FilesystemPaths;
  /** Filesystems that are not configured are read only where these ask for them. */
  readonly thresholds?: readonly Threshold[];
  /** The window of a pressure signal without a suffix; default 2 s. */
  readonly pressureWindowNs?: bigint;
  /** The cgroup of all workloads, and their memory in bytes; undefined: the limit of the cgroup. */
  readonly allocatable?: { readonly cgroup: string; readonly capacity: bigint | undefined } | undefined;
  /** What counts as available memory. Left out: as on a kubelet. */
  readonly departures?: Departures;
}

/**
 * Opens all that a tick reads.
 *
 * @throws UnavailableError where the node cgroup does not exist
 */
export function openNode(config: NodeConfig, native: Binding, mode: NotifierMode = 'arm'): LinuxNode {
  const hierarchies = readHierarchies();
  const { node, departures = departuresOf('kubelet') } = config;
  const parts =
    node.cgroup === undefined
      ? openMachine(hierarchies, departures, native)
      : openCgroup(hierarchies, normalCgroupPath(node.cgroup), departures, native);
  const watching = bindingFor(mode, native);
  const notifiersOf = (plan: WatchPlan): MemoryNotifiers => new MemoryNotifiers(watching, planFor(mode, plan));
  const changedMemory = () => {
    const changed = parts.changed?.();
    return changed && { memory: changed.memory, notifiers: notifiersOf(changed.plan) };
  };
  const allocatable = openAllocatable(config.allocatable, hierarchies.memory, departures, watching, mode);
  const own = new PressureAndSwap(watching, { ...parts.own, windowNs: config.pressureWindowNs ?? WINDOW_NS }, mode);
  return new LinuxNodeReader({
    ...parts,
    native: watching,
    filesystems: config.filesystems,
    thresholds: config.thresholds ?? [],
    notifiers: notifiersOf(parts.plan),
    changedMemory,
    own,
    allocatable,
  });
}

const WINDOW_NS = 2_000_000_000n;

type Opened = Omit<NodeParts, 'native' | 'filesystems' | 'thresholds' | 'notifiers' | 'changedMemory' | 'own' | 'allocatable'> & {
  readonly plan: WatchPlan;
  /** What is watched from now on; undefined: the same. Left out: always the same. */
  readonly changed?: () => WatchedMemory | undefined;
  readonly own: Omit<PressureAndSwapPlan, 'windowNs'>;
};

/**
 * Where the mount shows an ordinary cgroup as the root (in a container), its limits apply, too, and only OOM kills below
 * it concern the node. The kubelet asks the machine alone for its limits.
 */
function openMachine({ memory: hierarchy, pids }: Hierarchies, departures: Departures, native: Binding): Opened {
  const isPart = hierarchy !== undefined && !showsRootCgroup(hierarchy);
  return {
    hierarchy,
    identity: { name: 'machine', cgroup: undefined, cgroupVersion: hierarchy?.version ?? 2 },
    pids: pidsSource(departures['kernel-memory'] ? containerRoot(pids) : undefined),
    oomKills: isPart ? cgroupOomKills(native, hierarchy, '/') : machineOomKills(native),
    own: {
      pressure: MACHINE_PRESSURE,
      amounts: amountSources(departures['kernel-memory'] ? containerRoot(hierarchy) : undefined),
    },
    ...watchedMachine(hierarchy, departures),
  };
}

function openCgroup({ memory: hierarchy, pids }: Hierarchies, path: string, departures: Departures, native: Binding): Opened {
  if (hierarchy === undefined) {
    throw new UnavailableError('EVICTD_NODE_MISSING', `node cgroup ${path}: this machine has no cgroup memory controller`, {
      hint: 'mount the cgroup filesystem, and boot without cgroup_disable=memory',
    });
  }
  const directory = cgroupDirectory(hierarchy, path);
  const v1 = hierarchy.version === 1;
  requireMemoryCgroup(path, directory, v1 ? 'memory.usage_in_bytes' : 'memory.current');
  const memory = cgroupMemory(hierarchy, path, departures['reclaimable-cache']);
  return {
    hierarchy,
    identity: { name: path, cgroup: path, cgroupId: statSync(fsPath(directory), { bigint: true }).ino, cgroupVersion: hierarchy.version },
    memory,
    pids: pidsSource(pids && { hierarchy: pids, path }),
    oomKills: cgroupOomKills(native, hierarchy, path),
    own: {
      pressure: v1 ? MACHINE_PRESSURE_FOR_V1 : { fileOf: (resource) => `${directory}/${resource}.pressure`, remark: '' },
      amounts: amountSources({ hierarchy, path }),
    },
    plan: cgroupPlan('memory.available', hierarchy, path, memory, MACHINE_STALLS), // the machine's includes the cgroup's
  };
}

function requireMemoryCgroup(path: string, directory: string, usageFile: string): void {
  if (!existsSync(fsPath(directory))) {
    throw new UnavailableError('EVICTD_NODE_MISSING', `node cgroup ${path} does not exist (looked for ${directory})`, {
      hint: 'create it first, or correct node.cgroup: write the path below the mount of the memory controller',
    });
  }
  if (!existsSync(fsPath(`${directory}/${usageFile}`))) {
    throw new UnavailableError('EVICTD_NODE_MISSING', `node cgroup ${path} has no ${usageFile}`, {
      hint: 'the memory controller is not enabled for it: write +memory to cgroup.subtree_control of the cgroup above it',
    });
  }
}
