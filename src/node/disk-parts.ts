import type { CgroupHierarchy } from '../core/workload/cgroup.js';
import type { FilesystemPaths } from '../core/signal/layout.js';
import { selectHost } from '../host/select.js';
import type { ContainerRuntime } from '../monitor/ports/ports.js';
import { native } from '../native/index.js';
import type { BackgroundReads } from '../native/pending-answers.js';
import { ContainerMeasurement } from '../workloads/disk/container-measurement.js';
import { DirectoryMeasurement } from '../workloads/disk/directory-measurement.js';
import { measureDisks, type DiskMeasurement, type DiskParts } from '../workloads/disk/disk-measurement.js';
import { FilesystemTrees } from '../workloads/disk/filesystem-trees.js';
import { ImagesInUse } from '../workloads/disk/images-in-use.js';

export interface OpenedDiskParts extends DiskParts {
  readonly directories: DirectoryMeasurement;
  readonly containers: ContainerMeasurement;
  readonly trees: Pick<FilesystemTrees, 'of' | 'problems' | 'walk'>;
  readonly images: ImagesInUse;
}

/** Measures these filesystems, and what these runtimes have on them. */
export function openDiskParts(filesystems: FilesystemPaths, runtimes: () => readonly ContainerRuntime[]): OpenedDiskParts {
  return {
    directories: new DirectoryMeasurement(native),
    containers: new ContainerMeasurement(native, runtimes),
    trees: selectHost().os === 'windows' ? UNWALKED : new FilesystemTrees(native, filesystems),
    images: new ImagesInUse(runtimes),
  };
}

const UNWALKED: OpenedDiskParts['trees'] = { of: () => undefined, problems: [], walk: () => Promise.resolve() };

/**
 * Measures once what workloads hold on disks. On Windows an eviction frees no disk space: an open file cannot be
 * deleted there, and no rule names directories.
 */
export function measureNodeDisks(
  hierarchy: CgroupHierarchy | undefined,
  filesystems: FilesystemPaths,
  parts: OpenedDiskParts,
  silent?: BackgroundReads,
): Promise<DiskMeasurement> {
  if (selectHost().os !== 'windows') return measureDisks(native, hierarchy, filesystems, parts, silent);
  const nowNs = process.hrtime.bigint();
  return Promise.resolve({ beganNs: nowNs, endedNs: nowNs, of: () => ({}), holders: {}, problems: [] });
}
