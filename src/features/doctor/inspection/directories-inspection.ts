import { join } from 'node:path';
import type { Config } from '../../../config/config.js';
import { FILESYSTEM_ROLES, type FilesystemPaths } from '../../../core/signal/layout.js';
import type { DirectoryFacts, FilesystemFacts } from '../../../host/facts.js';
import type { DoctorReaders } from '../../../host/select.js';
import { RING_BYTES } from '../../../journal/journal.js';
import { STATE_BYTES } from '../../../state/state-file.js';
import type { Binding } from '../../../native/binding.js';
import { FILESYSTEM_TIMEOUT_MS, type Timeouts } from '../../../node/timeouts.js';

/**
 * Reads nothing without the addon: its threads may hang in a filesystem, the threads of Node must not.
 *
 * @param filesystems  those that `run` would use
 * @param instance  names the ring and the saved state in the runtime directory
 */
export async function examineDirectories(
  config: Config,
  filesystems: FilesystemPaths,
  instance: string,
  native: Binding | undefined,
  { readDirectory }: Pick<DoctorReaders, 'readDirectory'>,
  timeouts: Timeouts,
): Promise<FilesystemFacts> {
  const common = { timeoutMs: FILESYSTEM_TIMEOUT_MS };
  if (native === undefined) return { ...common, directories: [] };
  const keeps = [
    { name: `journal-${instance}`, bytes: RING_BYTES },
    { name: `${instance}.state`, bytes: STATE_BYTES },
  ];
  const watched = FILESYSTEM_ROLES.flatMap((role) => {
    const path = filesystems[role];
    return path === undefined ? [] : [{ role, path, writes: false, isReported: config.filesystems[role] === undefined }];
  });
  const requested = [
    ...watched,
    { role: 'state' as const, path: config.stateDirectory, writes: true, isReported: false },
    { role: 'runtime' as const, path: config.runtimeDirectory, writes: true, isReported: false, keeps },
  ];
  const directories = requested.map(async ({ role, path, isReported, ...rest }): Promise<DirectoryFacts> => {
    const answer = await timeouts.within(FILESYSTEM_TIMEOUT_MS, () => readDirectory(native, { path: join(path), ...rest }));
    return { role, path, isReported, answer };
  });
  return { ...common, directories: await Promise.all(directories) };
}
