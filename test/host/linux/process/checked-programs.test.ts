import { expect, test } from 'vitest';
import { CheckedPrograms, ProgramChecks } from '../../../../src/host/linux/process/checked-programs.js';

// The answers of filesystems are played here. test/e2e has one that hangs.

function played() {
  const asked: string[] = [];
  const answers = new Map<string, (problem: string | undefined) => void>();
  const ran: string[] = [];
  const checks = new ProgramChecks((program) => {
    asked.push(program);
    return new Promise((resolve) => answers.set(program, resolve));
  });
  const runner = {
    run: ({ name }: { readonly name: string }) => Promise.resolve(ran.push(name) > 0 && name === 'bad' ? 'why' : undefined),
  };
  const programs = new CheckedPrograms(runner, checks);
  const run = (program: string, { name = 'good', timeoutNs = 600_000_000_000n } = {}) =>
    programs.run({ purpose: 'hook', name, argv: [program], timeoutNs, memoryMaxBytes: 1n });
  const answer = async (program: string, problem?: string): Promise<void> => {
    answers.get(program)?.(problem);
    for (let turns = 0; turns < 10; turns += 1) await Promise.resolve();
  };
  return { asked, ran, run, answer };
}

test('a program runs after its check, and its result is reported', async () => {
  const { run, ran, answer } = played();
  const ends = [run('/a'), run('/a', { name: 'bad' })];
  expect(ran).toEqual([]);
  await answer('/a');
  expect(await Promise.all(ends)).toEqual([{ result: 'succeeded' }, { result: 'failed', error: 'why' }]);
});

test('a program that other users can change does not run', async () => {
  const { run, ran, answer } = played();
  const end = run('/a');
  await answer('/a', '/a is writable by all users');
  expect(await end).toEqual({ result: 'refused', error: '/a is writable by all users' });
  expect(ran).toEqual([]);
});

test('a filesystem that does not answer is given up at the timeout of the program', async () => {
  const { run } = played();
  expect(await run('/a', { timeoutNs: 1_000_000n })).toEqual({ result: 'refused', error: 'no answer for 0.001 s about /a' });
});

test('programs on filesystems that hang use two threads, and their checks are limited in number', async () => {
  const { run, asked, ran, answer } = played();
  const ends = ['/a', '/a', '/b', '/c', '/c'].map((program) => run(program));
  expect(asked).toEqual(['/a', '/b']);
  await answer('/b');
  expect(asked).toEqual(['/a', '/b', '/c']);
  void run('/d');
  await answer('/c');
  expect([asked, ran.length]).toEqual([['/a', '/b', '/c', '/d'], 3]);
  void run('/c');
  await answer('/d');
  expect(asked).toEqual(['/a', '/b', '/c', '/d', '/c']); // anew
  await Promise.all(ends.slice(2));
});
