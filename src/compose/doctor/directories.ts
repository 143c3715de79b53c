import { join } from 'node:path';
import type { Config } from '../../config/config.js';
import { FILESYSTEM_ROLES, type FilesystemPaths } from '../../core/layout.js';
import type { DirectoryFacts, FilesystemFacts } from '../../doctor/facts/filesystem.js';
import type { DoctorReaders } from '../../host/select.js';
import { RING_BYTES } from '../../monitor/journal.js';
import { STATE_BYTES } from '../../monitor/state-file.js';
import type { Binding } from '../../native/binding.js';
import { FILESYSTEM_PATIENCE_MS, type Patience } from './deadline.js';

/**
 * Nothing is asked without the addon, whose threads may hang in a filesystem.
 *
 * @param filesystems  those that `run` would go by
 * @param instance  whose ring lies in the runtime directory
 */
export async function examineDirectories(
  config: Config,
  filesystems: FilesystemPaths,
  instance: string,
  native: Binding | undefined,
  { readDirectory }: Pick<DoctorReaders, 'readDirectory'>,
  patience: Patience,
): Promise<FilesystemFacts> {
  const common = { patienceMs: FILESYSTEM_PATIENCE_MS };
  if (native === undefined) return { ...common, directories: [] };
  const keeps = [
    { name: `journal-${instance}`, bytes: RING_BYTES },
    { name: `${instance}.state`, bytes: STATE_BYTES },
  ];
  const watched = FILESYSTEM_ROLES.flatMap((role) => {
    const path = filesystems[role];
    return path === undefined ? [] : [{ role, path, writes: false, isTold: config.filesystems[role] === undefined }];
  });
  const asked = [
    ...watched,
    { role: 'state' as const, path: config.stateDirectory, writes: true, isTold: false },
    { role: 'runtime' as const, path: config.runtimeDirectory, writes: true, isTold: false, keeps },
  ];
  const directories = asked.map(async ({ role, path, isTold, ...rest }): Promise<DirectoryFacts> => {
    const answer = await patience.within(FILESYSTEM_PATIENCE_MS, () => readDirectory(native, { path: join(path), ...rest }));
    return { role, path, isTold, answer };
  });
  return { ...common, directories: await Promise.all(directories) };
}
