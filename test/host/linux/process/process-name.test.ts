import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { eventually } from '../../../support/eventually.js';

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
