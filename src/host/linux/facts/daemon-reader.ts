import { readdirSync, readlinkSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { DaemonFacts, DaemonName, Unseen } from '../../facts.js';
import { attempt, errnoName } from '../../../errors.js';
import { daemonName, executableName, unitOf } from '../process/daemon-name.js';
import { outputOf } from './service-reader.js';
import { textIfAny } from './text-file.js';

type RunningDaemon = Omit<DaemonFacts, 'thresholds'>;

/** Reads of each process only what cannot hang: executable, name and cgroup. */
export function findDaemons(): { readonly name: DaemonName; readonly pid: number; readonly unit: string | undefined }[] {
  const found = readdirSync('/proc')
    .flatMap((name) => (/^\d+$/.test(name) ? Number(name) : []))
    .flatMap((pid) => {
      const directory = `/proc/${String(pid)}`;
      const unit = unitOf(textIfAny(`${directory}/cgroup`) ?? '');
      const comm = textIfAny(`${directory}/comm`)?.trim() ?? '';
      const name = daemonName({ executable: executableOf(directory), comm, unit });
      return name === undefined ? [] : [{ name, pid, unit }];
    });
  return found.sort((a, b) => a.pid - b.pid);
}

/** Why processes of the machine may be hidden from this one; undefined: none are. */
export function hiddenProcesses(): string | undefined {
  if (textIfAny('/proc/1/comm') === undefined) return '/proc hides the processes of others (hidepid)';
  const own = linkIfAny('/proc/self/ns/pid');
  return own === undefined || own === 'pid:[4026531836]' ? undefined : 'this is a process namespace of its own';
}

/**
 * Arguments and settings of a daemon. Never rejects, and may never resolve: reading a command line waits for the lock
 * of the process's memory.
 */
export async function readDaemon(found: ReturnType<typeof findDaemons>[number], signal: AbortSignal): Promise<RunningDaemon> {
  const args = await argumentsOf(found.pid);
  return { ...found, arguments: args, settings: await settingsOf(found.name, Array.isArray(args) ? (args as string[]) : [], signal) };
}

async function settingsOf(name: DaemonName, args: readonly string[], signal: AbortSignal): Promise<string | Unseen> {
  switch (name) {
    case 'systemd-oomd':
      return outputOf('oomctl', [], signal); // D-Bus would start the service, so it is asked only where it runs
    case 'nohang': {
      const index = args.findIndex((arg) => arg === '-c' || arg === '--config');
      return fileText(index === -1 ? '/etc/nohang/nohang.conf' : (args[index + 1] ?? ''));
    }
    case 'earlyoom':
    case 'oomd':
    case 'lmkd':
    case 'kubelet':
      return { unseen: 'not read' };
  }
}

async function argumentsOf(pid: number): Promise<readonly string[] | Unseen> {
  const text = await fileText(`/proc/${String(pid)}/cmdline`);
  return typeof text === 'string' ? text.split('\0').slice(0, -1) : text;
}

async function fileText(path: string): Promise<string | Unseen> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    return { unseen: `${path}: ${errnoName(error) ?? String(error)}` };
  }
}

/** undefined: a kernel thread, or a process that evictd may not inspect. */
function executableOf(directory: string): string | undefined {
  const link = linkIfAny(`${directory}/exe`);
  return link === undefined ? undefined : executableName(link);
}

function linkIfAny(path: string): string | undefined {
  return attempt(() => readlinkSync(path));
}
