import { member, integerOf, items, textOf, timeOf, type Field } from './document.js';

/** Memory statistics of a node or a system container, in bytes, unsigned as written. */
export interface MemoryStats {
  readonly availableBytes: bigint | undefined;
  readonly usageBytes: bigint | undefined;
  readonly workingSetBytes: bigint | undefined;
  readonly timeNs: bigint | undefined;
}

export function memoryStatsOf(memory: Field): MemoryStats {
  return {
    availableBytes: integerOf(member(memory, 'availableBytes'), 'uint64'),
    usageBytes: integerOf(member(memory, 'usageBytes'), 'uint64'),
    workingSetBytes: integerOf(member(memory, 'workingSetBytes'), 'uint64'),
    timeNs: timeOf(member(memory, 'time')),
  };
}

/** The first system container of that name, even without statistics (kubelet: getSysContainer). */
export function systemContainer(node: Field, name: string): Field | undefined {
  return items(member(node, 'systemContainers')).find((container) => textOf(member(container, 'name')) === name);
}
