import { existsSync, readdirSync, statSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import type { Places } from './place.js';
import type { InstallStep } from './step.js';

/** Directories that are not those which every unit of evictd's has. */
export interface UnitDirectories {
  /** Names below /run: systemd makes them at every start, since /run is empty after a boot. */
  readonly runtime: readonly string[];
  /** Paths that the sandbox leaves open, as far as they are there. */
  readonly writable: readonly string[];
  /** What `install` does to them. */
  readonly steps: readonly InstallStep[];
}

export function unitDirectories(
  configured: { readonly stateDirectory: string; readonly runtimeDirectory: string },
  { stateDirectory, runtimeDirectory, runtimes }: Places,
): UnitDirectories {
  const own = [configured.runtimeDirectory].filter((path) => path !== runtimeDirectory);
  const below = own.filter((path) => runtimeName(path, runtimes) !== undefined);
  const shared = below.filter(isShared);
  const runtime = below.filter((path) => !shared.includes(path)).flatMap((path) => runtimeName(path, runtimes) ?? []);
  const elsewhere = [configured.stateDirectory, ...own].filter((path) => path !== stateDirectory && !below.includes(path));
  return {
    runtime,
    writable: [...elsewhere, ...shared],
    steps: [
      ...elsewhere.filter((path) => !existsSync(path)).map((path) => ({ action: 'make', path }) as const),
      ...shared.map((path) => ({ action: 'keep', path, why: 'others use it: who made it has to make it at every boot' }) as const),
    ],
  };
}

/** As RuntimeDirectory= takes it; undefined: systemd cannot make it there. A colon parts a name from a link (systemd 255). */
function runtimeName(path: string, runtimes: readonly string[]): string | undefined {
  const names = runtimes.map((root) => relative(root, resolve(path)));
  return names.find((name) => name !== '' && !name.startsWith('..') && !name.includes(':'));
}

/** systemd makes a runtime directory root's alone: not where others have something in it. */
function isShared(path: string): boolean {
  return existsSync(path) && (statSync(path).mode & 0o077) !== 0 && readdirSync(path).length > 0;
}
