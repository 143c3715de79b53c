import { existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import type { Config } from '../../../config/config.js';
import type { Places } from '../install-machine.js';
import type { InstallStep } from '../install-step.js';

/** Directories beyond those that every unit of evictd has. */
export interface UnitDirectories {
  /** Names below /run, which systemd creates at every start: /run is empty after a boot. */
  readonly runtime: readonly string[];
  /** Paths that the sandbox leaves writable, if they exist. */
  readonly writable: readonly string[];
  readonly steps: readonly InstallStep[];
}

export function unitDirectories(
  configured: Pick<Config, 'stateDirectory' | 'runtimeDirectory' | 'metrics'>,
  { stateDirectory, runtimeDirectory, runtimes }: Places,
): UnitDirectories {
  const own = [configured.runtimeDirectory].filter((path) => path !== runtimeDirectory);
  const below = own.filter((path) => runtimeName(path, runtimes) !== undefined);
  const shared = below.filter(isShared);
  const runtime = below.filter((path) => !shared.includes(path)).flatMap((path) => runtimeName(path, runtimes) ?? []);
  const elsewhere = [configured.stateDirectory, ...own].filter((path) => path !== stateDirectory && !below.includes(path));
  return {
    runtime,
    writable: [...elsewhere, ...shared, ...socketDirectories(configured.metrics, [stateDirectory, runtimeDirectory, ...elsewhere, ...own])],
    steps: [
      ...elsewhere.filter((path) => !existsSync(path)).map((path) => ({ action: 'make', path }) as const),
      ...shared.map((path) => ({ action: 'keep', path, why: 'other programs use it; it must be created at every boot' }) as const),
    ],
  };
}

/** The directories of the socket for metrics, unless evictd may write there anyway. */
function socketDirectories(metrics: Config['metrics'], writable: readonly string[]): readonly string[] {
  if (metrics === undefined || !('socket' in metrics)) return [];
  const directory = dirname(metrics.socket);
  return writable.includes(directory) ? [] : [directory];
}

/**
 * The value for RuntimeDirectory=; undefined: systemd cannot create it. A colon separates a name from a link (systemd
 * 255).
 */
function runtimeName(path: string, runtimes: readonly string[]): string | undefined {
  const names = runtimes.map((root) => relative(root, resolve(path)));
  return names.find((name) => name !== '' && !name.startsWith('..') && !name.includes(':'));
}

/** systemd would make it accessible to root only, so not if other programs use it. */
function isShared(path: string): boolean {
  return existsSync(path) && (statSync(path).mode & 0o077) !== 0 && readdirSync(path).length > 0;
}
