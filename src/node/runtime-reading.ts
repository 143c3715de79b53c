import type { LoadedConfig } from '../config/config.js';
import type { ContainerRuntime, UnitManager } from '../monitor/ports/ports.js';
import { askApiServer } from './api-server.js';
import { ContainerRuntimes } from './container-runtimes.js';
import { ManagedUnitSettings } from './managed-units.js';
import { foundFilesystems, openReading, type HostReading, type Managers } from './open-reading.js';

/**
 * Opens what `run` reads, for a single reading of all workloads. Container runtimes, the API server of a cluster, and
 * systemd about managed units, have answered or timed out.
 *
 * @param units  left out: systemd is not asked
 */
export async function openRuntimeReading(loaded: LoadedConfig, units?: UnitManager): Promise<HostReading> {
  const asked = askApiServer(loaded.config);
  const close = async (): Promise<void> => (await asked)?.close();
  try {
    const reading = await opened(
      loaded,
      (runtime) => runtime.reported(),
      async (runtimes, managed) => ({ runtimes, units, managedOom: await managed.reported(loaded.config), nodePods: await asked }),
    );
    return {
      ...reading,
      close: () => {
        reading.close();
        void close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Opens a single reading of the node alone: runtimes only report where their images are. */
export function openNodeReading(loaded: LoadedConfig): Promise<HostReading> {
  return opened(
    loaded,
    (runtime) => runtime.filesystemsReported(),
    () => Promise.resolve({}),
  );
}

async function opened(
  loaded: LoadedConfig,
  ask: (runtime: ContainerRuntime) => Promise<void>,
  managersOf: (runtimes: readonly ContainerRuntime[], managed: ManagedUnitSettings) => Promise<Managers>,
): Promise<HostReading> {
  const { config } = loaded;
  const open = new ContainerRuntimes();
  const managed = new ManagedUnitSettings();
  const close = (): void => {
    open.close();
    managed.close();
  };
  try {
    const runtimes = open.of(config);
    await Promise.all(runtimes.map(ask));
    const filesystems = await foundFilesystems(config.filesystems, runtimes);
    const reading = openReading(loaded, 'probe', await managersOf(runtimes, managed));
    reading.node.place(filesystems);
    return {
      ...reading,
      close: () => {
        reading.close();
        close();
      },
    };
  } catch (error) {
    close();
    throw error;
  }
}
