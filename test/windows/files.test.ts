import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { replaceFileSync } from '../../src/directory.js';
import { listenToRequests, askByFile } from '../../src/host/windows/requests.js';
import { rotatingFile } from '../../src/log/rotating-file.js';
import { Ring } from '../../src/monitor/ring.js';
import { eventually } from '../support/eventually.js';

function directory(): string {
  const made = mkdtempSync(join(tmpdir(), 'evictd-test-'));
  onTestFinished(() => {
    try {
      rmSync(made, { recursive: true, force: true });
    } catch {
      // a log file stays open as long as its process, and so does its directory
    }
  });
  return made;
}

test('the ring goes on behind what the run before has left, and is made anew with another size while it is open', () => {
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

test('a file that is read again and again is replaced', () => {
  const path = join(directory(), 'conditions.json');
  for (let round = 0; round < 20; round++) {
    replaceFileSync(path, String(round), 0o600);
    expect(readFileSync(path, 'utf8')).toBe(String(round));
  }
});

test('a log file that is full gets another name, in the place of the one before', async () => {
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

test('what a process is asked for by a file it hears', async () => {
  const lock = join(directory(), 'machine.lock');
  const heard: string[] = [];
  const listening = listenToRequests(lock, { reload: () => heard.push('reload'), stop: () => heard.push('stop') });
  askByFile(lock, process.pid, 'reload');
  await eventually('the request is heard', () => heard.length > 0);
  listening.close();
  expect(heard).toEqual(['reload']);
});
