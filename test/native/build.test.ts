import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { addonFile, makeDirectory, runNode } from './kernel.js';

const exportsOf = (file: string): unknown =>
  JSON.parse(
    execFileSync(process.execPath, ['-p', `JSON.stringify(Object.keys(require(${JSON.stringify(file)})).sort())`], { encoding: 'utf8' }),
  );

test('cmake-js builds the same addon from the same tree, without a warning', () => {
  const out = makeDirectory();
  const output = execFileSync('node_modules/.bin/cmake-js', ['build', '--out', out, '--parallel', '2'], {
    encoding: 'utf8',
    stdio: 'pipe',
  });
  expect(output).not.toMatch(/warning/i);
  const built = exportsOf(join(out, 'Release/evictd.node'));
  expect(built).toContain('MemcgThreshold');
  expect(built).toEqual(exportsOf(addonFile));
}, 240_000); // 20 s on two idle processors

test('the prebuilt addon needs glibc 2.34 at most and no libstdc++, and is small', () => {
  const bytes = readFileSync(addonFile);
  const text = bytes.toString('latin1');
  const versions = [...text.matchAll(/GLIBC_2\.(\d+)/g)].map(([, minor]) => Number(minor));
  expect(Math.max(...versions)).toBeLessThanOrEqual(34);
  expect(text).not.toContain('libstdc++.so');
  expect(text).not.toMatch(/GLIBCXX_\d/);
  expect(bytes.length).toBeLessThan(920 * 1024); // a third of it is what node-addon-api makes of a class, for twenty of them
});

test('without an addon for this machine the error and its documentation name the machines that have one', () => {
  const out = makeDirectory();
  for (const file of ['package.json', 'evictd.js', 'check.cjs']) cpSync(join('dist', file), join(out, 'dist', file));
  const { stdout, stderr } = spawnSync(process.execPath, [join(out, 'dist/evictd.js'), 'check'], { encoding: 'utf8' });
  const [row] = /^- `EVICTD_NATIVE_LOAD`.*(\n .*)*$/m.exec(readFileSync('docs/errors.md', 'utf8')) ?? [];
  for (const platform of ['linux-x64', 'linux-arm64', 'win32-x64']) {
    expect(stdout + stderr).toContain(platform);
    expect(row).toContain(platform);
  }
});

// make versions
const wanted = process.env.EVICTD_TEST_NODE_VERSION;

test.runIf(wanted !== undefined)('the requested Node runs the tests and their child processes', async () => {
  expect([process.version, (await runNode('console.log(process.version)')).output]).toEqual([wanted, wanted]);
});
