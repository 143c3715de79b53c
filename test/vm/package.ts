import { spawnSync } from 'node:child_process';

/**
 * Builds a Debian package of this tree without compression, which takes minutes on an emulated machine.
 *
 * @returns whether it was built; standard error has the reason otherwise
 */
export function buildPackage(out: string, ...options: readonly string[]): boolean {
  const build = ['packaging/deb/build.ts', '--out', out, '--compression', 'none', ...options];
  return spawnSync('node_modules/.bin/tsx', build, { stdio: ['ignore', 'ignore', 'inherit'] }).status === 0;
}
