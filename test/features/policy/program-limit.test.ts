import { expect, onTestFinished, test } from 'vitest';
import type { LimitedCommand } from '../../../src/core/systemd/limited-command.js';
import { limitPrograms } from '../../../src/features/policy/program-limit.js';
import { openRunner } from '../../../src/features/policy/running-policies.js';
import type { ProgramEnd } from '../../../src/monitor/ports/ports.js';

const command: LimitedCommand = {
  ...{ purpose: 'policy', name: 'test', argv: ['/evictd-test-none'] },
  ...{ timeoutNs: 60_000_000_000n, memoryMaxBytes: 1n },
};
const refused: ProgramEnd = { result: 'refused', error: '8 programs of policies are running' };

test('eight programs run at a time, and others are refused until one has ended', async () => {
  const ends: ((end: ProgramEnd | Error) => void)[] = [];
  const run = (): Promise<ProgramEnd> =>
    new Promise((resolve, reject) => {
      ends.push((end) => {
        if (end instanceof Error) reject(end);
        else resolve(end);
      });
    });
  const runner = limitPrograms({ run, problemOf: () => Promise.resolve(undefined), close: () => undefined });
  const first = Array.from({ length: 8 }, () => runner.run(command));
  expect(await runner.run(command)).toEqual(refused);
  ends[0]?.({ result: 'succeeded' });
  ends[1]?.(new Error('why'));
  expect(await first[0]).toEqual({ result: 'succeeded' });
  await expect(first[1]).rejects.toThrow('why');
  void runner.run(command);
  void runner.run(command);
  expect(await runner.run(command)).toEqual(refused);
  expect(ends).toHaveLength(10);
});

test('the programs of all policies have one limit', async () => {
  const runner = openRunner();
  onTestFinished(() => {
    runner.close();
  });
  const ends = await Promise.all(Array.from({ length: 9 }, () => runner.run(command)));
  expect(ends.map((end) => end.result === 'refused' && end.error === refused.error)).toEqual([...Array<boolean>(8).fill(false), true]);
});
