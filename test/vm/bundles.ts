import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { build, type Plugin } from 'esbuild';

/** Where a machine has this tree. */
export const PROJECT = '/project';

/** What tests start as a program of its own: test/support/program.ts. */
const PROGRAMS = ['test/workloads/protections-after-moves.ts'];

/** A bundle lies elsewhere than what went into it. */
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
 * Makes one JavaScript file of each file of tests: to transform TypeScript and load its hundred modules takes an emulated machine five to thirty
 * seconds for each, this machine some seconds for all of them.
 *
 * @param directory  vitest's root in the machine: names of files in it are those of the sources, but for `.js`
 */
export async function bundleTests(directory: string): Promise<void> {
  const files = readdirSync('test', { recursive: true, encoding: 'utf8' })
    .map((file) => join('test', file))
    .filter((file) => file.endsWith('.test.ts'));
  rmSync(directory, { recursive: true, force: true });
  await build({
    entryPoints: ['vitest.config.ts', ...PROGRAMS, ...files],
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
