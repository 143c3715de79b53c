import { readFileSync } from 'node:fs';
import { attempt } from '../../../errors.js';
import { fsPath } from '../../../byte-paths.js';
import { cgroupDirectory, type CgroupHierarchy } from '../../../core/workload/cgroup.js';
import { boundTo, numbersIn, parseMemoryNode, type MemoryNode } from '../../../core/oom/memory-node.js';

const NODES = '/sys/devices/system/node';

/** Reads the only nodes that a cpuset permits to a cgroup; undefined: it permits all, or there is one node. */
export type BoundNodes = (path: string) => readonly number[] | undefined;

/** @param controller  of the cpusets */
export function openBoundNodes(controller: CgroupHierarchy | undefined, directory = NODES): BoundNodes {
  const all = numbersIn(textOf(`${directory}/has_memory`));
  if (controller === undefined) return () => undefined;
  const file = controller.version === 2 ? 'cpuset.mems.effective' : 'cpuset.effective_mems';
  return (path) => boundTo(all, textOf(`${cgroupDirectory(controller, path)}/${file}`));
}

/** Reads what the nodes have to which a cpuset binds a cgroup; undefined: it is not bound, or they cannot be read. */
export type ReadBoundMemory = (path: string) => Omit<MemoryNode, 'node'> | undefined;

/** Reads the nodes once, for several cgroups. */
export function openBoundMemory(boundNodes: BoundNodes, readNodes = readMemoryNodes): ReadBoundMemory {
  let nodes: readonly MemoryNode[] | undefined;
  return (path) => {
    const bound = boundNodes(path);
    if (bound === undefined) return undefined;
    nodes ??= readNodes();
    const own = nodes.filter(({ node }) => bound.includes(node));
    if (own.length < bound.length) return undefined;
    const sum = (key: 'availableBytes' | 'capacityBytes'): bigint => own.reduce((total, node) => total + node[key], 0n);
    return { availableBytes: sum('availableBytes'), capacityBytes: sum('capacityBytes') };
  };
}

/** Empty: it cannot be read. */
function textOf(file: string): string {
  return attempt(() => readFileSync(fsPath(file), 'latin1')) ?? '';
}

/** The nodes of a machine that has several, read now; empty: it has one, or they cannot be read. */
export function readMemoryNodes(directory = NODES, zoneinfoFile = '/proc/zoneinfo'): readonly MemoryNode[] {
  try {
    const nodes = numbersIn(readFileSync(`${directory}/has_memory`, 'latin1'));
    if (nodes.length < 2) return [];
    const zoneinfo = readFileSync(zoneinfoFile, 'latin1');
    return nodes.flatMap(
      (node) => parseMemoryNode(node, readFileSync(`${directory}/node${String(node)}/meminfo`, 'latin1'), zoneinfo) ?? [],
    );
  } catch {
    return [];
  }
}
