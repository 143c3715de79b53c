import { readFileSync } from 'node:fs';
import { numbersIn, parseMemoryNode, type MemoryNode } from '../../../core/oom/memory-node.js';

const NODES = '/sys/devices/system/node';

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
