// make versions: the one addon, as built by the Node that is installed, passes the native tests on each Node that is
// supported; make versions ARGS=24 on one. The last line is "N passed, N failed".
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { nodeBinary, PACKAGED_NODE } from '../../packaging/node-binary.js';

/** The oldest that `engines` allows, and the newest of each line when this was written. */
const VERSIONS = ['20.19.0', '22.23.3', PACKAGED_NODE, '26.10.0'];

const asked = process.argv.slice(2);
const chosen = VERSIONS.filter((version) => asked.length === 0 || asked.some((start) => version.startsWith(start)));
if (chosen.length === 0) {
  process.stderr.write(`no version ${asked.join(' ')}; there are ${VERSIONS.join(', ')}\n`);
  process.exit(64);
}

let passed = 0;
let failed = 0;
for (const version of chosen) {
  const { binary } = nodeBinary(version, 'x64');
  // How the addon was built does not matter here: all of them use the same one.
  const run = spawnSync(
    binary,
    [resolve('node_modules/vitest/vitest.mjs'), 'run', '--project', 'core', '--project', 'proof', '-t', '^(?!cmake-js)', 'test/native'],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, EVICTD_TEST_NODE_VERSION: `v${version}` }, // test/native/build.test.ts: it is this one that runs there
      encoding: 'utf8',
      maxBuffer: 1 << 28,
    },
  );
  const [, good, bad] = /^(\d+) passed, (\d+) failed$/m.exec(run.stdout) ?? [];
  const clean = run.status === 0 && good !== undefined && Number(good) > 0;
  if (!clean) process.stdout.write(run.stdout);
  passed += Number(good ?? 0);
  failed += clean ? 0 : Math.max(Number(bad ?? 0), 1);
  process.stdout.write(
    `node ${version}: ${good ?? '0'} passed, ${bad ?? '?'} failed${clean ? '' : ` (exit ${String(run.status ?? run.signal)})`}\n`,
  );
}
process.stdout.write(`${String(passed)} passed, ${String(failed)} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;
