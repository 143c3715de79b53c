import type { Config } from '../../config/config.js';
import { filesystemOf } from '../../core/signal/signal.js';
import { operandsOf } from '../../core/threshold/threshold.js';
import type { LinuxNode } from '../../host/select.js';
import type { Log } from '../../log/log.js';
import { filesystemsRecord, holdersRecord } from '../../journal/records/node-records.js';
import type { Journal } from '../../journal/journal.js';
import type { ContainerRuntime, WorkloadSource } from '../../monitor/ports/ports.js';
import { native } from '../../native/index.js';
import { BackgroundReads } from '../../native/pending-answers.js';
import type { DiskMeasurement } from '../../workloads/disk/disk-measurement.js';
import { DiskWatch } from './disk-watch.js';
import { FoundFilesystems } from '../../workloads/disk/found-filesystems.js';
import { SpaceWatch } from './space-watch.js';
import type { ConfigurationInForce } from '../../node/configuration-in-force.js';
import type { ContainerRuntimes } from '../../node/container-runtimes.js';
import { measureNodeDisks, openDiskParts, type OpenedDiskParts } from '../../node/disk-parts.js';
import { workloadsOf } from '../../node/open-reading.js';

interface DisksParts {
  readonly node: LinuxNode;
  readonly workloads: Pick<WorkloadSource, 'candidates'>;
  readonly runtimes: Pick<ContainerRuntimes, 'of'>;
  readonly log: Log;
  readonly journal: Pick<Journal, 'record'>;
}

/** Measures disks in the background while one is short of space. */
export interface Disks {
  readonly filesystems: FoundFilesystems;
  /** What workloads hold on disks. */
  readonly watch: DiskWatch;
  /** What holds the space, workload or not. */
  readonly space: SpaceWatch;
  /**
   * Calls `listener` when something is known that a decision depends on: a pass that reads the filesystems should
   * follow.
   */
  onChange(listener: () => void): void;
}

export function openDisks(inForce: ConfigurationInForce, { node, workloads, runtimes, log, journal }: DisksParts): Disks {
  let changed: () => void = () => undefined;
  const runtimesNow = (): readonly ContainerRuntime[] => runtimes.of(inForce.config);
  const filesystems = new FoundFilesystems(inForce.started.filesystems, native, runtimesNow, (found, isApart) => {
    node.place(filesystems);
    watch.forget();
    reportFilesystems({ log, journal, thresholds: inForce.config.thresholds }, found, isApart);
    changed();
  });
  node.place(filesystems);
  const parts = openDiskParts(filesystems, runtimesNow);
  const reads = new BackgroundReads();
  const measure = (): Promise<DiskMeasurement> => measureNodeDisks(node.hierarchy, filesystems, parts, reads);
  const watch = new DiskWatch({
    measure: async () => {
      const known = workloadsOf(workloads);
      parts.directories.refresh(known).then(
        (hasChanged) => {
          if (hasChanged) changed();
        },
        (error: unknown) => {
          log.error(`cannot measure the directories of workloads: ${String(error)}`, { code: 'EVICTD_DISK_UNMEASURED' });
        },
      );
      await parts.containers.refresh(known);
      return measure();
    },
    onNews: () => {
      changed();
    },
  });
  return {
    filesystems,
    watch,
    space: openSpaceWatch(parts, measure, { log, journal }),
    onChange: (listener) => {
      changed = listener;
    },
  };
}

function openSpaceWatch(
  { trees, images }: OpenedDiskParts,
  measure: () => Promise<DiskMeasurement>,
  { log, journal }: Pick<DisksParts, 'log' | 'journal'>,
): SpaceWatch {
  return new SpaceWatch({
    readHolders: async (roles) => {
      await Promise.all([trees.walk(roles), images.refresh()]);
      return (await measure()).holders;
    },
    onFound: (signal, holders) => {
      const record = holdersRecord(signal, holders);
      journal.record(record);
      log.warn(record.message, { signal });
    },
    onError: (error) => {
      log.warn(`cannot find out what holds the space: ${String(error)}`, { code: 'EVICTD_DISK_UNMEASURED' });
    },
  });
}

/** Logs where the filesystems are, and warns if the images have their own filesystem and no threshold watches it. */
function reportFilesystems(
  { log, journal, thresholds }: Pick<DisksParts, 'log' | 'journal'> & Pick<Config, 'thresholds'>,
  ...[found, isApart]: Parameters<typeof filesystemsRecord>
): void {
  const record = filesystemsRecord(found, isApart);
  journal.record(record);
  const isWatched = thresholds.flatMap(operandsOf).some(({ signal }) => filesystemOf(signal) === 'imagefs');
  if (!isApart || isWatched) log.info(record.message);
  else {
    log.warn(`${record.message}: no threshold watches imagefs, so evictd does nothing when it is full`, {
      code: 'EVICTD_IMAGEFS_UNWATCHED',
    });
  }
}
