// make windows: runs test/windows with the cross-compiled addon in node.exe under Wine, in each Node version that Wine
// can run: make windows ARGS='20 performance-info'. Without a file name it first checks that the package has this
// addon. The last line is "N passed, N failed".
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { nodeForWindows } from '../../packaging/node-binary.js';
import { faultsOf } from '../../packaging/prebuilds.js';
import { bundleTests } from '../support/bundled-tests.js';
import { findWine, Wine } from './wine.js';

/** The newest version of each line that Wine 8 runs: 24 and later need functions that it lacks. */
const VERSIONS = ['20.20.2', '22.23.3'];
const DIRECTORY = 'build/wine';
const SUFFIX = '.test.ts';
const PREBUILD = 'dist/prebuilds/win32-x64/evictd.node';

const program = findWine();
if (program === undefined) {
  process.stderr.write('evictd: Wine is missing (Debian: apt-get install wine wine64)\n');
  process.exit(1);
}
const asked = process.argv.slice(2);
const isVersion = (word: string): boolean => /^\d/.test(word);
const versions = VERSIONS.filter((version) => !asked.some(isVersion) || asked.some((start) => version.startsWith(start)));
const names = readdirSync('test/windows')
  .filter((file) => file.endsWith(SUFFIX))
  .map((file) => file.slice(0, -SUFFIX.length))
  .filter((name) => asked.every(isVersion) || asked.includes(name));

const bundle = resolve(DIRECTORY, 'tests.mjs');
await bundleTests(
  names.map((name) => `test/windows/${name}${SUFFIX}`),
  bundle,
);
const wine = new Wine(program, resolve(DIRECTORY));
let [passed, failed] = [0, 0];
if (asked.every(isVersion)) {
  const faults = packageFaults();
  for (const fault of faults) process.stdout.write(`FAILED the package has the addon for Windows: ${fault}\n`);
  if (faults.length === 0) passed += 1;
  else failed += 1;
}
try {
  for (const version of versions) {
    const { status, output } = wine.run(nodeForWindows(version), ['--enable-source-maps', bundle]);
    const [, good = '0', bad = '0'] = /^(\d+) passed, (\d+) failed\s*$/m.exec(output) ?? [];
    passed += Number(good);
    failed += status === 0 && Number(good) > 0 ? 0 : Math.max(Number(bad), 1);
    process.stdout.write(`${output}${status === 0 ? '' : `node.exe ${version}: exit ${String(status ?? 'by time')}\n`}`);
  }
} finally {
  wine.close();
}
process.stdout.write(`${String(passed)} passed, ${String(failed)} failed\n`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;

/** Checks that the files that npm would pack now include the tested addon, and that it is for x64. */
function packageFaults(): string[] {
  const said = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [packed] = JSON.parse(said) as readonly { readonly files: readonly { readonly path: string }[] }[];
  const isPacked = packed?.files.some(({ path }) => path === PREBUILD) === true;
  return [...(isPacked ? [] : [`${PREBUILD} is not packed`]), ...faultsOf('dist/prebuilds', ['win32-x64'])];
}
