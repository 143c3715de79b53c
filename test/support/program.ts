import { join, resolve } from 'node:path';

/** The directory of bundled programs, if they are bundled (test/vm/bundles.ts). */
const BUNDLES = process.env.EVICTD_TEST_BUNDLES;

/** The command that runs a TypeScript program of these tests: 'test/log/writer.ts'. */
export function typescriptProgram(file: string): readonly [command: string, ...args: string[]] {
  const bundle = BUNDLES === undefined ? undefined : join(BUNDLES, file.replace(/\.ts$/, '.js'));
  return bundle === undefined ? [process.execPath, '--import', 'tsx', resolve(file)] : [process.execPath, bundle];
}
