import { parseQuantity } from '../../src/core/quantity/quantity.js';
import type {
  Container,
  ContainerStats,
  FilesystemUsage,
  LocalVolume,
  PodParts,
  ResourceList,
  VolumeStats,
  Workload,
  WorkloadStats,
  WorkloadUsage,
} from '../../src/core/workload/workload.js';
import { stats as knowing } from './support.js';

const NANO = 1_000_000_000n;

/** Of one thing in bytes or as a count, and its request. */
export interface Amounts {
  readonly memory?: bigint;
  readonly ephemeralStorage?: bigint;
  readonly inodes?: bigint;
}

export interface Given extends Partial<Omit<Workload, 'requests' | 'pod'>> {
  readonly requests?: Amounts;
  readonly pod?: Partial<PodParts>;
  /** null: nothing is known about it. */
  readonly stats?: Partial<WorkloadStats> | null;
}

/** A pod and what it uses: nothing but what is given. */
export function pod(name: string, { requests = {}, pod: parts = {}, stats = {}, ...overrides }: Given = {}): WorkloadUsage {
  const workload: Workload = {
    id: `uid-${name}`,
    name,
    path: `default/${name}`,
    priority: 0,
    requests: {
      memory: (requests.memory ?? 0n) * NANO,
      ephemeralStorage: (requests.ephemeralStorage ?? 0n) * NANO,
      inodes: (requests.inodes ?? 0n) * NANO,
    },
    limits: { memory: undefined, ephemeralStorage: undefined },
    qosClass: 'Burstable',
    terminationGracePeriodNs: undefined,
    startOrder: 0n,
    protection: undefined,
    pod: {
      namespace: 'default',
      containers: [],
      volumes: [],
      podLevel: undefined,
      limits: new Map(),
      priorityClassName: '',
      tolerations: [],
      conditions: [],
      generation: 0n,
      ...parts,
    },
    ...overrides,
  };
  return { workload, stats: stats === null ? undefined : knowing(stats) };
}

/** A machine workload, the working set of which is all that is known. */
export function machine(name: string, workingSetBytes: bigint, given: Omit<Given, 'pod' | 'stats'> = {}): WorkloadUsage {
  const { workload } = pod(name, { path: `/${name}`, ...given });
  return { workload: { ...workload, pod: undefined }, stats: knowing({ workingSetBytes, usageBytes: workingSetBytes }) };
}

export function container(name: string, requests: Readonly<Record<string, string>> = {}, more: Partial<Container> = {}): Container {
  return { name, kind: 'regular', requests: resources(requests), limits: new Map(), ...more };
}

export function resources(amounts: Readonly<Record<string, string>>): ResourceList {
  return new Map(Object.entries(amounts).map(([name, amount]) => [name, parseQuantity(amount)]));
}

export function emptyDir(name: string, sizeLimit?: string, medium = ''): LocalVolume {
  return { name, kind: 'emptyDir', medium, sizeLimit: sizeLimit === undefined ? undefined : parseQuantity(sizeLimit) };
}

export function containerStats(name: string, stats: Partial<ContainerStats> = {}): ContainerStats {
  return { name, workingSetBytes: undefined, rootfs: undefined, logs: undefined, ...stats };
}

export function files(usedBytes?: bigint, inodesUsed?: bigint): FilesystemUsage {
  return { usedBytes, inodesUsed };
}

export function volumeStats(name: string, usedBytes?: bigint, inodesUsed?: bigint): VolumeStats {
  return { name, usedBytes, inodesUsed };
}
