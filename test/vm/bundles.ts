import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { build, type Plugin } from 'esbuild';

/** The path of this tree in a machine. */
export const PROJECT = '/project';

/** Programs that tests start (test/support/program.ts). */
const PROGRAMS = ['test/workloads/cgroup/protections-after-moves.ts'];

/** A bundle is in another directory than its sources. */
const whereItWas: Plugin = {
  name: 'where-it-was',
  setup: (bundling) => {
    bundling.onLoad({ filter: /\.ts$/, namespace: 'file' }, ({ path }) => {
      if (path.includes('/node_modules/')) return undefined;
      const file = join(PROJECT, path.slice(process.cwd().length));
      const contents = readFileSync(path, 'utf8')
        .replaceAll('import.meta.dirname', JSON.stringify(dirname(file)))
        .replaceAll('import.meta.url', JSON.stringify(`file://${file}`));
      return { contents, loader: 'ts' };
    });
  },
};

/**
 * Bundles each test file into one JavaScript file: an emulated machine needs 5 to 30 s for each to transform TypeScript
 * and to load a hundred modules, this machine a few seconds for all.
 *
 * @param directory  the root of vitest in the machine, with file names as in the sources, except `.js`
 */
export async function bundleTests(directory: string): Promise<void> {
  const files = readdirSync('test', { recursive: true, encoding: 'utf8' })
    .map((file) => join('test', file))
    .filter((file) => file.endsWith('.test.ts'));
  await bundle(directory, ['vitest.config.ts', ...PROGRAMS, ...files]);
}

/** Bundles programs for a machine, with file names as in the sources, except `.js`. */
export async function bundle(directory: string, entryPoints: readonly string[]): Promise<void> {
  rmSync(directory, { recursive: true, force: true });
  await build({
    entryPoints: [...entryPoints],
    outdir: directory,
    outbase: '.',
    bundle: true,
    packages: 'external',
    plugins: [whereItWas],
    platform: 'node',
    target: 'node20.19',
    format: 'esm',
    sourcemap: 'linked',
    sourcesContent: false,
    logLevel: 'warning',
  });
}
