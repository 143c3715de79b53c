import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { RunFile, crashesNotedIn } from '../../src/state/run-file.js';

function place(): string {
  const directory = mkdtempSync(join(tmpdir(), 'evictd-test-'));
  onTestFinished(() => {
    rmSync(directory, { recursive: true });
  });
  return join(directory, 'machine.run.json');
}

/** Runs that begin at these times, and crash. Returns what each one counts. */
function crashingAt(times: readonly number[], { path = place(), bootId = 'boot' } = {}): number[] {
  return times.map((atMs) => {
    const run = new RunFile(path, { bootId, withinMs: 600, nowMs: () => atMs });
    run.begin();
    return run.crashes;
  });
}

test.each<[rule: string, times: number[], crashes: number[]]>([
  ['the first run', [0], [0]],
  ['each run after a crash counts the crash', [0, 100, 200], [0, 1, 2]],
  ['a crash as old as the time counts', [0, 100, 700], [0, 1, 2]],
  ['an older run does not count', [0, 100, 701], [0, 1, 1]],
])('%s', (_rule, times, crashes) => {
  expect(crashingAt(times)).toEqual(crashes);
});

test('a stop is not a crash, and forgets those before', () => {
  const path = place();
  crashingAt([0, 100], { path });
  const stopped = new RunFile(path, { bootId: 'boot', withinMs: 600, nowMs: () => 200 });
  stopped.begin();
  expect(stopped.crashes).toBe(2);
  stopped.close();
  stopped.close();
  expect(existsSync(path)).toBe(false);
  expect(crashingAt([300, 400], { path })).toEqual([0, 1]);
});

test('a run that has lasted forgets the crashes before it, and its own crash counts', () => {
  const path = place();
  crashingAt([0, 100], { path });
  const lasting = new RunFile(path, { bootId: 'boot', withinMs: 600, nowMs: () => 200 });
  lasting.begin();
  lasting.settle();
  expect(lasting.crashes).toBe(0);
  expect(crashingAt([300], { path })).toEqual([1]);
});

test('a run of another boot is not a crash', () => {
  const path = place();
  crashingAt([0, 100, 200], { path });
  expect(crashingAt([10, 20], { path, bootId: 'next' })).toEqual([0, 1]);
});

test.each([
  ['damaged file', '{"bootId":"bo'],
  ['file of another shape', '{"bootId":"boot","crashesMs":["0","1","2"]}'],
])('a %s is a run that crashed', (_rule, text) => {
  const path = place();
  writeFileSync(path, text);
  expect(crashingAt([0], { path })).toEqual([1]);
});

test('the file of the running evictd is read without a change', () => {
  const path = place();
  expect(crashesNotedIn(path)).toBe(0);
  const runs = (): RunFile => new RunFile(path, { bootId: 'boot', withinMs: 1000, nowMs: () => 10 });
  runs().begin();
  expect(crashesNotedIn(path)).toBe(0);
  runs().begin();
  const third = runs();
  third.begin();
  expect(crashesNotedIn(path)).toBe(2);
  third.settle();
  expect(crashesNotedIn(path)).toBe(0);
  writeFileSync(path, 'damaged');
  expect(crashesNotedIn(path)).toBe(0);
});
