import { build } from 'esbuild';
import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/**
 * Bundles test files and all that they import into one file, for a Node on which vitest does not run. Its last line is
 * "N passed, N failed".
 *
 * @param bundle  its directory has the addons in prebuilds/
 */
export async function bundleTests(files: readonly string[], bundle: string): Promise<void> {
  const imports = files.map((file) => resolve(file)).map((file) => `${JSON.stringify(file)}: () => import(${JSON.stringify(file)})`);
  mkdirSync(dirname(bundle), { recursive: true });
  const prebuilds = join(dirname(bundle), 'prebuilds');
  if (!existsSync(prebuilds)) symlinkSync(resolve('dist/prebuilds'), prebuilds);
  await build({
    stdin: {
      contents: `import { run } from 'vitest';\nawait run({ ${imports.join(', ')} });`,
      resolveDir: process.cwd(),
      sourcefile: 'entry.ts',
    },
    outfile: bundle,
    bundle: true,
    platform: 'node',
    target: 'node20.19',
    format: 'esm',
    alias: { vitest: resolve('test/support/bundled-vitest.ts') },
    banner: { js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);" },
    sourcemap: 'inline',
    logLevel: 'warning',
  });
}
