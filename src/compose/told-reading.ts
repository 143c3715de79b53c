import type { LoadedConfig } from '../config/config.js';
import type { ContainerRuntime, UnitManager } from '../monitor/ports.js';
import type { Told } from '../workloads/cgroup.js';
import { ContainerRuntimes } from './container-runtimes.js';
import { foundFilesystems, openReading, type Reading } from './reading.js';

/**
 * What `run` reads with, for one look at all workloads: container runtimes have been asked, and have answered or had the time to.
 *
 * @param units  left out: nobody asks systemd
 */
export function openRuntimeReading(loaded: LoadedConfig, units?: UnitManager): Promise<Reading> {
  return opened(
    loaded,
    (runtime) => runtime.reported(),
    (runtimes) => ({ runtimes, units }),
  );
}

/** The same for one look at the node alone: they are asked for nothing but where images lie. */
export function openNodeReading(loaded: LoadedConfig): Promise<Reading> {
  return opened(
    loaded,
    (runtime) => runtime.filesystemsReported(),
    () => ({}),
  );
}

async function opened(
  loaded: LoadedConfig,
  ask: (runtime: ContainerRuntime) => Promise<void>,
  toldOf: (runtimes: readonly ContainerRuntime[]) => Told,
): Promise<Reading> {
  const { config } = loaded;
  const open = new ContainerRuntimes();
  try {
    const runtimes = open.of(config);
    await Promise.all(runtimes.map(ask));
    const filesystems = await foundFilesystems(config.filesystems, runtimes);
    const reading = openReading(loaded, 'probe', toldOf(runtimes));
    reading.node.place(filesystems);
    return {
      ...reading,
      close: () => {
        reading.close();
        open.close();
      },
    };
  } catch (error) {
    open.close();
    throw error;
  }
}
