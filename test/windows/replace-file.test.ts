import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { expect, onTestFinished, test } from 'vitest';
import { replaceFileSync } from '../../src/storage/directory.js';

const ROUNDS = 5;

test('a file that another process reads is replaced as soon as it is closed', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'evictd-test-'));
  onTestFinished(() => {
    rmSync(directory, { recursive: true, force: true });
  });
  const path = join(directory, 'file');
  writeFileSync(path, 'before');
  const errors: unknown[] = [];
  // A slow reader keeps it open for too long in some rounds: these are refused.
  while (errors.length < ROUNDS && readFileSync(path, 'utf8') === 'before') {
    const reader = new Worker(
      `const fs = require('node:fs');
       const file = fs.openSync(${JSON.stringify(path)});
       require('node:worker_threads').parentPort.postMessage('open');
       setTimeout(() => fs.closeSync(file), 20);`,
      { eval: true },
    );
    const closed = once(reader, 'exit');
    await once(reader, 'message');
    try {
      replaceFileSync(path, 'after', 0o600);
    } catch (error) {
      errors.push(error);
    }
    await closed;
  }
  expect(readFileSync(path, 'utf8'), String(errors[0])).toBe('after');
});
