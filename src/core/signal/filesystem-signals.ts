import type { Departures } from '../decide/departures.js';
import { ofResource } from '../disk/disk-holding.js';
import { diskUsage, type DiskPart } from '../disk/disk-usage.js';
import type { Collection, FilesystemRole, Layout } from './layout.js';
import type { Workload } from '../workload/workload.js';
import type { Measure } from './signal-definition.js';

const ALL: readonly DiskPart[] = ['rootfs', 'logs', 'volumes'];
const BOTH: readonly Collection[] = ['containers', 'images'];

/** For each layout: what counts for a filesystem, and what can be reclaimed on it (kubelet: eviction/helpers.go, v1.36.2). */
interface ByLayout {
  /** buildSignalToRankFunc. */
  readonly parts: Readonly<Record<Layout, readonly DiskPart[]>>;
  /** buildSignalToNodeReclaimFuncs. */
  readonly collections: Readonly<Record<Layout, readonly Collection[]>>;
}

const NODEFS: ByLayout = {
  parts: { single: ALL, imagefs: ['logs', 'volumes'], split: ALL },
  collections: { single: BOTH, imagefs: [], split: ['containers'] },
};
const IMAGEFS: ByLayout = {
  parts: { single: ALL, imagefs: ['rootfs'], split: [] },
  collections: { single: BOTH, imagefs: BOTH, split: ['images'] },
};
const CONTAINERFS: ByLayout = {
  parts: { single: ALL, imagefs: ['rootfs'], split: ALL },
  collections: { single: BOTH, imagefs: BOTH, split: ['containers'] },
};

type DiskResource = 'ephemeral-storage' | 'inodes';

/** A filesystem has two signals: its free bytes, and its free inodes. */
function filesystem<Role extends FilesystemRole>(role: Role, { parts, collections }: ByLayout) {
  const both = {
    operator: '<',
    kubelet: true,
    filesystem: role,
    condition: 'DiskPressure',
    collections: (layout: Layout) => collections[layout],
  } as const;
  const measure = (resource: DiskResource) => (layout: Layout, departures: Departures) =>
    measureOn(role, resource, parts[layout], departures);
  return [
    {
      ...both,
      name: `${role}.available`,
      unit: 'bytes',
      resource: 'ephemeral-storage',
      measure: measure('ephemeral-storage'),
    },
    {
      ...both,
      name: `${role}.inodesFree`,
      unit: 'inodes',
      resource: 'inodes',
      measure: measure('inodes'),
      absentOnWindows: 'Windows counts no inodes: NTFS and ReFS make file records as they need them',
    },
  ] as const;
}

export const filesystemSignals = [
  ...filesystem('nodefs', NODEFS),
  ...filesystem('imagefs', IMAGEFS),
  ...filesystem('containerfs', CONTAINERFS),
] as const;

const nothing = (): bigint => 0n;
const storageRequest = ({ requests }: Workload): bigint => requests.ephemeralStorage;
const inodesRequest = ({ requests }: Workload): bigint => requests.inodes;

/** Requests cover written files only. Images do not count against them. */
const IMAGE_BYTES: Measure = { usage: (_, stats) => stats.images?.usedBytes, requestNano: nothing, subtractedNano: nothing };
const IMAGE_INODES: Measure = { ...IMAGE_BYTES, usage: (_, stats) => stats.images?.inodesUsed };

/** A machine workload's usage comes from the measured holdings, where there are any. */
function measureOn(role: FilesystemRole, resource: DiskResource, parts: readonly DiskPart[], departures: Departures): Measure {
  const ofPods = measureOfParts(resource, parts, departures);
  const usage: Measure['usage'] = (workload, stats) => {
    if (workload.pod !== undefined || stats.disks === undefined) return ofPods.usage(workload, stats);
    const holding = stats.disks[role];
    return typeof holding === 'object' ? ofResource(resource, holding.uses) : undefined;
  };
  return { ...ofPods, usage };
}

function measureOfParts(resource: DiskResource, parts: readonly DiskPart[], departures: Departures): Measure {
  const isInodes = resource === 'inodes';
  if (parts.length === 0 && departures['image-usage']) return isInodes ? IMAGE_INODES : IMAGE_BYTES;
  return {
    usage: (workload, stats) => diskUsage(workload, stats, parts, isInodes ? 'inodesUsed' : 'usedBytes'),
    requestNano: isInodes ? inodesRequest : storageRequest,
    subtractedNano: isInodes && departures['inode-ranking'] ? inodesRequest : storageRequest,
  };
}
