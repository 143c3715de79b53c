import type { Config } from '../config/config.js';
import type { DiskHolder } from '../core/filesystem-holders.js';
import { type DiskSignal, filesystemOf } from '../core/signal.js';
import { operandsOf, type Threshold } from '../core/threshold.js';
import type { LinuxNode } from '../host/select.js';
import type { Log } from '../log.js';
import { filesystemsRecord } from '../monitor/filesystems-record.js';
import { holdersRecord } from '../monitor/holders-record.js';
import type { Journal } from '../monitor/journal.js';
import type { ContainerRuntime, WorkloadSource } from '../monitor/ports.js';
import { native } from '../native/index.js';
import { BackgroundReads } from '../native/unanswered.js';
import type { DiskMeasurement } from '../workloads/disk-measurement.js';
import { DiskWatch } from '../workloads/disk-watch.js';
import { FoundFilesystems } from '../workloads/found-filesystems.js';
import { SpaceWatch } from '../workloads/space-watch.js';
import { lookAtDisks, openDiskParts } from './disk-parts.js';
import { workloadsOf } from './reading.js';

interface DisksParts {
  readonly node: LinuxNode;
  readonly workloads: Pick<WorkloadSource, 'candidates'>;
  readonly runtimes: () => readonly ContainerRuntime[];
  readonly thresholds: () => readonly Threshold[];
  readonly log: Log;
  readonly journal: Pick<Journal, 'record'>;
  readonly onNews: () => void;
}

/** What looks at disks in the background, when one runs short: what workloads hold, and what holds the space. */
export function openDisks(
  config: Pick<Config, 'filesystems'>,
  { node, workloads, runtimes, thresholds, log, journal, onNews }: DisksParts,
): {
  readonly filesystems: FoundFilesystems;
  readonly watch: DiskWatch;
  readonly space: SpaceWatch;
} {
  const filesystems = new FoundFilesystems(config.filesystems, native, runtimes, (told, isApart) => {
    node.place(filesystems);
    watch.forget();
    const record = filesystemsRecord(told, isApart);
    journal.record(record);
    const isWatched = thresholds()
      .flatMap(operandsOf)
      .some(({ signal }) => filesystemOf(signal) === 'imagefs');
    if (!isApart || isWatched) log.info(record.message);
    else
      log.warn(`${record.message}: no threshold of imagefs is set, so that nothing is done when it is full`, {
        code: 'EVICTD_IMAGEFS_UNWATCHED',
      });
    onNews();
  });
  node.place(filesystems);
  const parts = openDiskParts(filesystems, runtimes);
  const { directories, containers, trees, images } = parts;
  const silent = new BackgroundReads();
  const measure = (): Promise<DiskMeasurement> => lookAtDisks(node.hierarchy, filesystems, parts, silent);
  const watch = new DiskWatch({
    measure: async () => {
      const known = workloadsOf(workloads);
      directories.refresh(known).then(
        (isNews) => {
          if (isNews) onNews();
        },
        (error: unknown) => {
          log.error(`directories of workloads cannot be measured: ${String(error)}`, { code: 'EVICTD_DISK_UNMEASURED' });
        },
      );
      await containers.refresh(known);
      return measure();
    },
    onNews,
  });
  const space = new SpaceWatch({
    look: async (roles) => {
      await Promise.all([trees.walk(roles), images.refresh()]);
      return (await measure()).holders;
    },
    onFound: (signal: DiskSignal, holders: readonly DiskHolder[]) => {
      const record = holdersRecord(signal, holders);
      journal.record(record);
      log.warn(record.message, { signal });
    },
    onError: (error) => {
      log.warn(`what holds the space is not known: ${String(error)}`, { code: 'EVICTD_DISK_UNMEASURED' });
    },
  });
  return { filesystems, watch, space };
}
