import type { FilesystemPaths } from '../core/layout.js';
import type { ContainerRuntime } from '../monitor/ports.js';
import { native } from '../native/index.js';
import { ContainerMeasurement } from '../workloads/container-measurement.js';
import { DirectoryMeasurement } from '../workloads/directory-measurement.js';
import type { DiskParts } from '../workloads/disk-measurement.js';
import { FilesystemTrees } from '../workloads/filesystem-trees.js';
import { ImagesInUse } from '../workloads/images-in-use.js';
import { keptDirectories } from './emptying.js';

interface OpenedDiskParts extends DiskParts {
  readonly directories: DirectoryMeasurement;
  readonly containers: ContainerMeasurement;
  readonly trees: FilesystemTrees;
  readonly images: ImagesInUse;
}

/** What is measured of these filesystems, and of what these runtimes have on them. */
export function openDiskParts(filesystems: FilesystemPaths, runtimes: () => readonly ContainerRuntime[]): OpenedDiskParts {
  return {
    directories: new DirectoryMeasurement(native, () => keptDirectories(runtimes())),
    containers: new ContainerMeasurement(native, runtimes),
    trees: new FilesystemTrees(native, filesystems),
    images: new ImagesInUse(runtimes),
  };
}
