import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { givenArguments } from '../../../../src/host/linux/process/own-process.js';
import { eventually } from '../../../support/eventually.js';
import { temporaryDirectory } from '../../../support/temporary-directory.js';

test.runIf(process.platform === 'linux')('ps and top show evictd, with its arguments where there is room', async () => {
  // It waits for the end of its input.
  const child = spawn(process.execPath, [resolve('dist/evictd.js'), 'config', 'check', '/dev/stdin'], {
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  onTestFinished(async () => {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  });
  const file = (name: string): string =>
    readFileSync(`/proc/${String(child.pid)}/${name}`, 'utf8')
      .replace(/\0+$/, '')
      .trim();
  await eventually('the process has its name', () => file('comm') === 'evictd' || undefined);
  expect(file('cmdline')).toBe('evictd config check /dev/stdin');
});

test.runIf(process.platform === 'linux')('an argument keeps its bytes', () => {
  const evictd = String.raw`exec "$0" "$1" rank --workload-cgroup "$(printf '/nowhere/b\303\244d\377\303')"`;
  const { stdout, stderr } = spawnSync('sh', ['-c', evictd, process.execPath, resolve('dist/evictd.js')], { encoding: 'utf8' });
  expect(stdout + stderr).toContain(String.raw`workload source /nowhere/bäd\xff\xc3 does not exist`);
});

test.each<[rule: string, cmdline: string, args: readonly string[], given: readonly string[]]>([
  ['are taken from the end of the command line', 'node\0--flag\0evictd.js\0check\0a\xff\0', ['check', 'a\ufffd'], ['check', 'a\udcff']],
  ['stay as they are where the kernel has others', 'evictd another title\0', ['check', 'a\ufffd'], ['check', 'a\ufffd']],
  ['stay as they are where all are UTF-8', 'node\0x\0y\0', ['check', 'a'], ['check', 'a']],
])('the given arguments %s', (_rule, cmdline, args, given) => {
  const file = join(temporaryDirectory(), 'cmdline');
  writeFileSync(file, cmdline, 'latin1');
  expect(givenArguments(args, file)).toEqual(given);
});
