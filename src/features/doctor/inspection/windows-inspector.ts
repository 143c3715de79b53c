import { access, constants } from 'node:fs/promises';
import { join, win32 } from 'node:path';
import manifest from '../../../../package.json' with { type: 'json' };
import type { Config, LoadedConfig } from '../../../config/config.js';
import { FILESYSTEM_ROLES } from '../../../core/signal/layout.js';
import { lazyFacts, type LazyFacts } from '../check-kind.js';
import type { WindowsFacts, RightsFacts, VolumeFacts, WindowsServiceFacts } from '../machine-facts.js';
import type { InstanceFacts, RuntimeFacts } from '../../../host/facts.js';
import { errnoName } from '../../../errors.js';
import { selectHost } from '../../../host/select.js';
import { holderOf } from '../../../host/windows/windows-lock-files.js';
import { runFilePath } from '../../../state/run-file.js';
import { answerPath } from '../../../state/request-answer.js';
import type { Binding } from '../../../native/binding.js';
import { systemErrorText, thrownText } from '../../../native/system-error.js';
import type { FilesystemReading, WindowsBinding } from '../../../native/windows-binding.js';
import type { FilesystemsRead } from '../../../node/machine-facts.js';
import { FILESYSTEM_TIMEOUT_MS, type Timeouts } from '../../../node/timeouts.js';
import { examineNode, type ExaminedNode } from './node-inspection.js';
import { crashesOf, reloadOf } from './runtimes-inspection.js';
import { workloadFacts } from './workloads-inspection.js';

const ERROR_FILE_NOT_FOUND = 2;
const ERROR_PATH_NOT_FOUND = 3;

export interface WindowsSources {
  readonly loaded: LoadedConfig;
  readonly filesystemsRead: FilesystemsRead;
  /** undefined: the addon does not load. */
  readonly addon: Binding | undefined;
  readonly native: WindowsBinding | undefined;
  readonly runtime: RuntimeFacts;
  readonly timeouts: Timeouts;
}

export function windowsFacts({ loaded, filesystemsRead, addon, native, runtime, timeouts }: WindowsSources): LazyFacts<WindowsFacts> {
  const { config } = loaded;
  const { instanceName, isAdministrator } = selectHost();
  const sources = { runtimes: [], filesystems: config.filesystems, close: () => undefined };
  // Before evictd looks at processes, as `run` does.
  const debugPrivilege = enableDebugPrivilege(native);
  let examined: Promise<ExaminedNode> | undefined;
  const examineNodeOnce = async (): Promise<ExaminedNode> => {
    await facts.volumes(); // what blocks comes after what waits
    examined ??= examineNode(loaded, addon, sources, filesystemsRead);
    return examined;
  };
  const facts: LazyFacts<WindowsFacts> = lazyFacts<WindowsFacts>({
    version: () => manifest.version,
    runtime: () => runtime,
    rights: () => ({ isAdministrator: isAdministrator(), debugPrivilege }),
    service: () => ({ kind: 'no systemd' }),
    instance: () => readInstance(config.runtimeDirectory, native),
    crashes: async () =>
      crashesOf(await facts.instance(), runFilePath(config.runtimeDirectory, instanceName({ cgroup: undefined })), config.safeMode.crashes),
    reload: async () =>
      reloadOf(await facts.instance(), answerPath(config.runtimeDirectory, instanceName({ cgroup: undefined }), 'reload')),
    windowsService: () => readService(native),
    volumes: () => (native ? examineVolumes(config, native, timeouts) : []),
    node: async () => (await examineNodeOnce()).facts,
    workloads: async () => workloadFacts(loaded, (await examineNodeOnce()).machine),
  });
  return facts;
}

function readInstance(runtimeDirectory: string, native: WindowsBinding | undefined): InstanceFacts {
  if (native === undefined) return { kind: 'unseen', unseen: 'processes cannot be listed without the addon' };
  const { instanceName } = selectHost();
  try {
    const holder = (dryRun: boolean): ReturnType<typeof holderOf> =>
      holderOf(join(runtimeDirectory, `${instanceName({ cgroup: undefined }, dryRun)}.lock`), native);
    const guarding = holder(false);
    if (guarding) return { kind: 'running', ...guarding };
    const dryRun = holder(true)?.pid;
    return { kind: 'none', ...(dryRun !== undefined && { dryRun }) };
  } catch (error) {
    return { kind: 'unseen', unseen: thrownText(error) };
  }
}

function enableDebugPrivilege(native: WindowsBinding | undefined): RightsFacts['debugPrivilege'] {
  if (native === undefined) return { unseen: 'privileges cannot be read without the addon' };
  try {
    return native.enableDebugPrivilege();
  } catch (error) {
    return { unseen: thrownText(error) };
  }
}

function readService(native: WindowsBinding | undefined): WindowsServiceFacts {
  if (native === undefined) return { unseen: 'services cannot be listed without the addon' };
  try {
    const found = native.services().find(({ name }) => name.toLowerCase() === 'evictd');
    return found ? { state: found.state, pid: found.pid } : { state: 'not installed' };
  } catch (error) {
    return { unseen: thrownText(error) };
  }
}

function examineVolumes(config: Config, native: WindowsBinding, timeouts: Timeouts): Promise<VolumeFacts[]> {
  const directories = [
    ...FILESYSTEM_ROLES.flatMap((role) => {
      const path = config.filesystems[role];
      return path === undefined ? [] : [{ role, path, writes: false }];
    }),
    { role: 'state' as const, path: config.stateDirectory, writes: true },
    { role: 'runtime' as const, path: config.runtimeDirectory, writes: true },
  ];
  return Promise.all(
    directories.map(async ({ role, path, writes }): Promise<VolumeFacts> => {
      const answer = await timeouts.within(FILESYSTEM_TIMEOUT_MS, () => readVolume(native, path));
      const refused = writes && answer && 'at' in answer ? await refusalOf(answer.at) : undefined;
      return { role, path, answer, refused };
    }),
  );
}

/** The volume of a directory. If the directory does not exist, the nearest ancestor counts: evictd would create it there. */
async function readVolume(native: WindowsBinding, path: string): Promise<VolumeFacts['answer']> {
  let at = path;
  let reading = await statistics(native, at);
  while ([ERROR_FILE_NOT_FOUND, ERROR_PATH_NOT_FOUND].includes(reading.errno) && win32.dirname(at) !== at) {
    at = win32.dirname(at);
    reading = await statistics(native, at);
  }
  if (reading.errno !== 0) return { error: systemErrorText(reading.errno) };
  return { at, totalBytes: reading.totalBytes, availableBytes: reading.availableBytes };
}

function statistics(native: WindowsBinding, path: string): Promise<FilesystemReading> {
  const stats = new native.FilesystemStats(path);
  return new Promise((resolve) => {
    stats.request(() => {
      const reading = stats.read();
      stats.close();
      resolve(reading);
    });
  });
}

async function refusalOf(path: string): Promise<string | undefined> {
  try {
    await access(path, constants.W_OK);
    return undefined;
  } catch (error) {
    return errnoName(error) ?? String(error);
  }
}
