import type { Platform } from '../core/signal/operating-system.js';
import { HostError } from '../errors.js';
import type { Host } from './host.js';
import * as linux from './linux/linux-host.js';
import * as ownProcess from './linux/process/own-process.js';
import * as windows from './windows/windows-host.js';

export type { Host } from './host.js';
export type { NodeConfig, LinuxNode, NotifierMode } from './linux/node.js';
export type { KernelLogWatch } from './linux/oom/kernel-log.js';
export type { InstanceLock } from './linux/process/lock-files.js';
export type { DoctorReaders } from './linux/facts/readers.js';

/**
 * The platform that a configuration is for. Where evictd does not run, a configuration can be checked as Linux has it.
 */
export function selectPlatform(platform: NodeJS.Platform = process.platform, env: NodeJS.ProcessEnv = process.env): Platform {
  return platform === 'win32' ? { os: 'windows', programData: env.ProgramData ?? 'C:\\ProgramData' } : { os: 'linux' };
}

/**
 * The signals that stop a process, reload its configuration, and resume its evictions. On Windows SIGHUP is the end of
 * the console, SIGBREAK is Ctrl-Break.
 */
export function selectSignals(platform: NodeJS.Platform = process.platform): ProcessSignals {
  return platform === 'win32'
    ? { stop: ['SIGINT', 'SIGBREAK', 'SIGHUP'], reload: [], resume: [] }
    : { stop: ['SIGTERM', 'SIGINT'], reload: ['SIGHUP'], resume: ['SIGUSR2'] };
}

/** The arguments of this process; Windows has them in Unicode. */
export function selectArguments(args: readonly string[], platform: NodeJS.Platform = process.platform): readonly string[] {
  return platform === 'linux' ? ownProcess.givenArguments(args) : args;
}

/** Elsewhere the title is that of the console's window. */
export function selectProcessName(args: readonly string[], platform: NodeJS.Platform = process.platform): void {
  if (platform === 'linux') ownProcess.nameProcess(args);
}

export interface ProcessSignals {
  readonly stop: readonly NodeJS.Signals[];
  readonly reload: readonly NodeJS.Signals[];
  readonly resume: readonly NodeJS.Signals[];
}

/**
 * The only place that asks for the platform.
 *
 * In src/host, `import * as` defers: the bundle (esbuild.config.js) evaluates the module when one of its exports is
 * first used. So a process on Linux evaluates no module of Windows. test/host/deferred.test.ts holds the list.
 */
export function selectHost(platform: NodeJS.Platform = process.platform): Host {
  if (platform === 'linux') return linux.linuxHost;
  if (platform === 'win32') return windows.windowsHost;
  throw new HostError('EVICTD_HOST_PLATFORM', `evictd does not run on ${platform}`, { hint: 'it runs on Linux and on Windows' });
}
