import { readFileSync } from 'node:fs';
import { attempt } from '../../../errors.js';
import { fsPath, subdirectoriesIn } from '../../../byte-paths.js';
import { cgroupDirectory, withAncestors } from '../../../core/workload/cgroup.js';
import type { Hierarchies } from '../cgroup/hierarchies.js';
import { boundTo, numbersIn, parseMemoryNode, type MemoryNode } from '../../../core/oom/memory-node.js';

const NODES = '/sys/devices/system/node';

/**
 * Reads the only nodes that a cpuset permits to a cgroup; undefined: it permits all. 'unknown': neither its cpuset nor a
 * process of it can be read.
 */
export type BoundNodes = (path: string) => readonly number[] | 'unknown' | undefined;

/**
 * undefined: the machine has one node.
 *
 * On v2 a cgroup without the file has the nodes of the nearest one above that has it. On v1 the cpuset of a workload may
 * have another path, so that its first process is asked before, if it has one.
 */
export function openBoundNodes(
  { cpuset, memory }: Pick<Hierarchies, 'cpuset' | 'memory'>,
  { directory = NODES, proc = '/proc' }: { readonly directory?: string; readonly proc?: string } = {},
): BoundNodes | undefined {
  const all = numbersIn(textOf(`${directory}/has_memory`));
  if (all.length < 2) return undefined;
  const ofCpuset = (path: string): string => {
    if (cpuset === undefined) return '';
    const paths = cpuset.version === 2 ? withAncestors(path) : [path];
    const file = cpuset.version === 2 ? 'cpuset.mems.effective' : 'cpuset.effective_mems';
    return first(paths, (each) => textOf(`${cgroupDirectory(cpuset, each)}/${file}`));
  };
  const ofProcesses = (path: string): string => (memory ? ofProcess(cgroupDirectory(memory, path), proc) : '');
  const [before, after] = cpuset?.version === 2 ? [ofCpuset, ofProcesses] : [ofProcesses, ofCpuset];
  return (path) => {
    const mems = before(path) || after(path);
    return mems === '' ? 'unknown' : boundTo(all, mems);
  };
}

/** The first text that is not empty. */
function first(paths: readonly string[], textAt: (path: string) => string): string {
  for (const path of paths) {
    const text = textAt(path);
    if (text !== '') return text;
  }
  return '';
}

/** Mems_allowed_list of the first process; empty: there is none, or a kernel without cpusets. */
function ofProcess(directory: string, proc: string): string {
  const pid = firstProcess(directory);
  return /^Mems_allowed_list:\s*(\S+)$/m.exec(pid === undefined ? '' : textOf(`${proc}/${pid}/status`))?.[1] ?? '';
}

/** The maximum number of cgroups to search, because a slice itself has no process. */
const MAX_SEARCHED = 32;

function firstProcess(directory: string): string | undefined {
  const left = [directory];
  for (let searched = 0; searched < MAX_SEARCHED; searched += 1) {
    const next = left.shift();
    if (next === undefined) return undefined;
    const [pid] = /^\d+/.exec(textOf(`${next}/cgroup.procs`)) ?? [];
    if (pid !== undefined) return pid;
    const below = attempt(() => subdirectoriesIn(next)) ?? [];
    left.push(...below.slice(0, MAX_SEARCHED).map((name) => `${next}/${name}`));
  }
  return undefined;
}

/** Reads what the nodes have to which a cpuset binds a cgroup; undefined: it is not bound, or that cannot be read. */
export type ReadBoundMemory = (path: string) => Omit<MemoryNode, 'node'> | undefined;

/** Reads the nodes once, for several cgroups. */
export function openBoundMemory(boundNodes: BoundNodes, readNodes = readMemoryNodes): ReadBoundMemory {
  let nodes: readonly MemoryNode[] | undefined;
  return (path) => {
    const bound = boundNodes(path);
    if (bound === undefined || bound === 'unknown') return undefined;
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
