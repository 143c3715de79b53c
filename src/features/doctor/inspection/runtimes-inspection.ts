import type { Config } from '../../../config/config.js';
import type { FilesystemPaths } from '../../../core/signal/layout.js';
import type { ContainerRuntime } from '../../../monitor/ports/ports.js';
import type { Binding } from '../../../native/binding.js';
import { ContainerRuntimes } from '../../../node/container-runtimes.js';

export interface AskedRuntimes {
  /** Those of the sources; each has answered or timed out. */
  readonly runtimes: readonly ContainerRuntime[];
  /** Those that `run` would use. */
  readonly filesystems: FilesystemPaths;
  close(): void;
}

/** Without the addon nothing can be read, so no runtime is asked. */
export async function askRuntimes(config: Config, native: Binding | undefined): Promise<AskedRuntimes> {
  if (native === undefined) return { runtimes: [], filesystems: config.filesystems, close: () => undefined };
  const { foundFilesystems } = await import('../../../node/node-reading.js');
  const asked = new ContainerRuntimes();
  const runtimes = await asked.reported(config);
  return {
    runtimes,
    filesystems: await foundFilesystems(config.filesystems, runtimes),
    close: () => {
      asked.close();
    },
  };
}
