import { access, constants } from 'node:fs/promises';
import { join, win32 } from 'node:path';
import manifest from '../../../package.json' with { type: 'json' };
import type { Config, LoadedConfig } from '../../config/config.js';
import { FILESYSTEM_ROLES } from '../../core/layout.js';
import type { InstanceFacts } from '../../doctor/facts/process.js';
import type { RightsFacts, VolumeFacts, WindowsServiceFacts } from '../../doctor/facts/windows.js';
import { examineWindowsFacts } from '../../doctor/windows-examine.js';
import { errnoName } from '../../errors.js';
import { selectHost } from '../../host/select.js';
import { holderOf } from '../../host/windows/lock-holder.js';
import { reloadAnswerPath } from '../../monitor/reload-answer.js';
import { ofWindows } from '../../native/of-windows.js';
import { systemErrorText, thrownText } from '../../native/system-error.js';
import type { FilesystemReading, WindowsBinding } from '../../native/windows-binding.js';
import type { FilesystemsRead } from '../machine-facts.js';
import { loadAddon } from './addon.js';
import { FILESYSTEM_PATIENCE_MS, Patience } from './deadline.js';
import type { Examination } from './examination.js';
import { examineNode } from './node.js';
import { reloadOf } from './reload.js';
import { workloadFacts } from './workloads.js';

const ERROR_FILE_NOT_FOUND = 2;
const ERROR_PATH_NOT_FOUND = 3;

/** The same as on Linux, of what there is on Windows. Nothing is changed. */
export async function examineWindows(loaded: LoadedConfig, filesystemsRead: FilesystemsRead): Promise<Examination> {
  const { config } = loaded;
  const { instanceName, isAdministrator } = selectHost();
  const patience = new Patience();
  const { native: addon, facts: runtime } = await loadAddon();
  const native = addon && ofWindows(addon);
  const instance = readInstance(config.runtimeDirectory, native);
  const asked = { runtimes: [], filesystems: config.filesystems, close: () => undefined };
  const volumes = native ? await examineVolumes(config, native, patience) : [];
  const { facts: node, sources, machine } = await examineNode(loaded, addon, asked, filesystemsRead);
  const checks = examineWindowsFacts({
    version: manifest.version,
    runtime,
    rights: { isAdministrator: isAdministrator(), debugPrivilege: enableDebugPrivilege(native) },
    instance,
    reload: reloadOf(instance, reloadAnswerPath(config.runtimeDirectory, instanceName({ cgroup: undefined }))),
    service: readService(native),
    node,
    volumes,
    workloads: workloadFacts(loaded, sources, machine, undefined),
  });
  return { checks, exitNow: patience.exhausted && native ? (code) => native.exitNow(code) : undefined };
}

function readInstance(runtimeDirectory: string, native: WindowsBinding | undefined): InstanceFacts {
  if (native === undefined) return { kind: 'unseen', unseen: 'processes are not listed without the addon' };
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

/** Before anybody is looked at, as evictd does it. */
function enableDebugPrivilege(native: WindowsBinding | undefined): RightsFacts['debugPrivilege'] {
  if (native === undefined) return { unseen: 'privileges are not seen without the addon' };
  try {
    return native.enableDebugPrivilege();
  } catch (error) {
    return { unseen: thrownText(error) };
  }
}

function readService(native: WindowsBinding | undefined): WindowsServiceFacts {
  if (native === undefined) return { unseen: 'services are not listed without the addon' };
  try {
    const found = native.services().find(({ name }) => name.toLowerCase() === 'evictd');
    return found ? { state: found.state, pid: found.pid } : { state: 'not installed' };
  } catch (error) {
    return { unseen: thrownText(error) };
  }
}

function examineVolumes(config: Config, native: WindowsBinding, patience: Patience): Promise<VolumeFacts[]> {
  const asked = [
    ...FILESYSTEM_ROLES.flatMap((role) => {
      const path = config.filesystems[role];
      return path === undefined ? [] : [{ role, path, writes: false }];
    }),
    { role: 'state' as const, path: config.stateDirectory, writes: true },
    { role: 'runtime' as const, path: config.runtimeDirectory, writes: true },
  ];
  return Promise.all(
    asked.map(async ({ role, path, writes }): Promise<VolumeFacts> => {
      const answer = await patience.within(FILESYSTEM_PATIENCE_MS, () => readVolume(native, path));
      const refused = writes && answer && 'at' in answer ? await refusalOf(answer.at) : undefined;
      return { role, path, answer, refused };
    }),
  );
}

/** Of a directory that is not there yet the one above it is looked at: there it would be made. */
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
