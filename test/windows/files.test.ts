import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { replaceFileSync } from '../../src/storage/directory.js';
import { listenToRequests, askByFile } from '../../src/host/windows/request-file.js';
import { rotatingFile } from '../../src/log/rotating-file.js';
import { Ring } from '../../src/journal/journal-ring.js';
import { eventually } from '../support/eventually.js';

function directory(): string {
  const made = mkdtempSync(join(tmpdir(), 'evictd-test-'));
  onTestFinished(() => {
    try {
      rmSync(made, { recursive: true, force: true });
    } catch {
      // the log file stays open until the process ends, and so does its directory
    }
  });
  return made;
}

test('the ring continues after the records of an earlier run, and changes its size while it is open', () => {
  const path = join(directory(), 'journal-machine');
  const first = new Ring(path, 4096);
  first.append('one');
  first.close();
  const second = new Ring(path, 4096);
  expect(second.before.map(({ text }) => text)).toEqual(['one']);
  second.append('two');
  second.close();
  const larger = new Ring(path, 8192);
  expect(larger.undrained.map(({ text }) => text)).toEqual(['one', 'two']);
  expect(larger.problem).toBeUndefined();
  larger.append('three');
  larger.close();
  expect(readFileSync(path).length).toBe(8192);
});

test('a file that is read all the time is replaced', () => {
  const path = join(directory(), 'conditions.json');
  for (let round = 0; round < 20; round++) {
    replaceFileSync(path, String(round), 0o600);
    expect(readFileSync(path, 'utf8')).toBe(String(round));
  }
});

test('a full log file is renamed, over the older one', async () => {
  const path = join(directory(), 'evictd.log');
  const sink = rotatingFile(path, 4);
  for (const line of ['one\n', 'two\n', 'tri\n']) {
    await new Promise<void>((resolve, reject) => {
      sink(Buffer.from(line), (error) => {
        if (error) reject(error);
        else resolve();
      });
    });
  }
  expect([readFileSync(`${path}.1`, 'utf8'), readFileSync(path, 'utf8')]).toEqual(['two\n', 'tri\n']);
});

test('a process gets requests by file', async () => {
  const lock = join(directory(), 'machine.lock');
  const requests: string[] = [];
  const listening = listenToRequests(lock, {
    reload: () => requests.push('reload'),
    resume: () => requests.push('resume'),
    stop: () => requests.push('stop'),
  });
  askByFile(lock, process.pid, 'reload');
  await eventually('the request arrives', () => requests.length > 0);
  listening.close();
  expect(requests).toEqual(['reload']);
});
