import type { LoadedConfig } from '../config/config.js';
import type { ContainerRuntime, UnitManager } from '../monitor/ports/ports.js';
import type { FactSources } from '../workloads/cgroup/workloads-node.js';
import { ContainerRuntimes } from './container-runtimes.js';
import { foundFilesystems, openReading, type HostReading } from './open-reading.js';

/**
 * Opens what `run` reads, for a single reading of all workloads. Container runtimes have answered or timed out.
 *
 * @param units  left out: systemd is not asked
 */
export function openRuntimeReading(loaded: LoadedConfig, units?: UnitManager): Promise<HostReading> {
  return opened(
    loaded,
    (runtime) => runtime.reported(),
    (runtimes) => ({ runtimes, units }),
  );
}

/** The same for a single reading of the node alone: runtimes only report where their images are. */
export function openNodeReading(loaded: LoadedConfig): Promise<HostReading> {
  return opened(
    loaded,
    (runtime) => runtime.filesystemsReported(),
    () => ({}),
  );
}

async function opened(
  loaded: LoadedConfig,
  ask: (runtime: ContainerRuntime) => Promise<void>,
  managersOf: (runtimes: readonly ContainerRuntime[]) => FactSources,
): Promise<HostReading> {
  const { config } = loaded;
  const open = new ContainerRuntimes();
  try {
    const runtimes = open.of(config);
    await Promise.all(runtimes.map(ask));
    const filesystems = await foundFilesystems(config.filesystems, runtimes);
    const reading = openReading(loaded, 'probe', managersOf(runtimes));
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
