// make arm64: the cross-compiled addon is loaded by a Node for arm64 under qemu-user, and the tests that need no kernel
// of their own are run there. The last line is "N passed, N failed".
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, writeFileSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { nodeBinary } from '../../packaging/node-binary.js';
import { bundleTests } from '../support/bundled-tests.js';

const VERSION = '20.20.2';
/** Debian's libraries for the other processor: libc6-arm64-cross, libstdc++6-arm64-cross. */
const SYSROOT = '/usr/aarch64-linux-gnu';
const EMULATOR = 'qemu-aarch64-static';

/**
 * Left out: building it, ending environments and filling memory, which take minutes each in emulation and concern no
 * processor; and locking memory, for which the emulator has no system call (mlock2).
 */
const LEFT_OUT = ['build.test.ts', 'environment.test.ts', 'memcg-threshold.test.ts', 'locked-text.test.ts'];
const FILES = readdirSync('test/native')
  .filter((file) => file.endsWith('.test.ts') && !LEFT_OUT.includes(file))
  .map((file) => basename(file, '.test.ts'));

if (!existsSync(`${SYSROOT}/lib/libstdc++.so.6`)) {
  process.stderr.write(`no ${SYSROOT}/lib/libstdc++.so.6 (Debian: apt-get install g++-aarch64-linux-gnu qemu-user-static)\n`);
  process.exit(1);
}
const asked = process.argv.slice(2);
const files = FILES.filter((file) => asked.length === 0 || asked.includes(file)).map((file) => `test/native/${file}.test.ts`);

const bundle = resolve('build/arm64/tests.mjs');
await bundleTests(files, bundle);
const { binary: node } = nodeBinary(VERSION, 'arm64');
const emulated = resolve('build/arm64/node');
writeFileSync(
  emulated,
  `#!/bin/sh
exec ${EMULATOR} -L ${SYSROOT} ${node} "$@"
`,
);
chmodSync(emulated, 0o755);
const { status } = spawnSync(emulated, ['--enable-source-maps', bundle], {
  stdio: 'inherit',
  env: { ...process.env, EVICTD_TEST_NODE: emulated, EVICTD_TEST_SLOWNESS: process.env.EVICTD_TEST_SLOWNESS ?? '5' },
});
process.exitCode = status ?? 1;
