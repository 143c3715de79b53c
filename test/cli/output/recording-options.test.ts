import { Command, CommanderError } from 'commander';
import { expect, test } from 'vitest';
import { addRecordingOptions, recordingPlan, type RecordingOptions } from '../../../src/cli/output/recording-options.js';

function plan(...args: readonly string[]) {
  const command = addRecordingOptions(new Command('run'))
    .exitOverride()
    .configureOutput({ writeErr: () => undefined });
  command.parse(args, { from: 'user' });
  return recordingPlan(command.opts<RecordingOptions>());
}

test('without --record nothing is recorded', () => {
  expect(plan('--record-max-size', '1Mi')).toBeUndefined();
});

test('a recording has default limits', () => {
  expect(plan('--record', 'f')).toEqual({
    path: 'f',
    limits: { maxBytes: 64 * 1024 * 1024, maxAgeMs: 86_400_000 },
    sampleEveryNs: 10_000_000_000n,
  });
});

test('options set the limits of a recording', () => {
  expect(plan('--record', 'f', '--record-max-size', '1.5Mi', '--record-max-age', '90m', '--record-workloads', '0s')).toEqual({
    path: 'f',
    limits: { maxBytes: 1_572_864, maxAgeMs: 5_400_000 },
    sampleEveryNs: 0n,
  });
});

test.each<[rule: string, args: readonly string[]]>([
  ['the size is not an amount', ['--record-max-size', 'much']],
  ['the size is too small to be useful', ['--record-max-size', '63Ki']],
  ['the size is more than 8Ti', ['--record-max-size', '9Ti']],
  ['the age is not a duration', ['--record-max-age', '1 day']],
  ['an age below a minute', ['--record-max-age', '59s']],
  ['a negative pace', ['--record-workloads', '-1s']],
])('the recording option is refused: %s', (_rule, args) => {
  expect(() => plan('--record', 'f', ...args)).toThrow(CommanderError);
});

test('a file without a name is refused', () => {
  expect(() => plan('--record', '')).toThrow(/'--record <file>' argument '' is invalid\. Use the path of a file\./);
});
