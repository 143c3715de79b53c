import { InvalidArgumentError, Option, type Command } from 'commander';
import { parseDuration } from '../../core/quantity/duration.js';
import { parseQuantity, quantityValue } from '../../core/quantity/quantity.js';
import { SHARED_GROUPS } from './help.js';
import type { RecordingPlan } from '../../recording/open.js';

const SMALLEST_BYTES = 64n * 1024n;
const LARGEST_BYTES = 2n ** 43n;
const SHORTEST_NS = 60_000_000_000n;

/** The parsed options of {@link addRecordingOptions}. */
export interface RecordingOptions {
  readonly record?: string;
  readonly recordMaxSize: number;
  readonly recordMaxAge: bigint;
  readonly recordWorkloads: bigint;
}

export function addRecordingOptions(command: Command): Command {
  return command
    .optionsGroup(SHARED_GROUPS.recording)
    .addOption(recordOption('append every input of a decision, for evictd replay; rotated to FILE.1'))
    .addOption(new Option('--record-max-size <bytes>', 'limit of both files together').argParser(size).default(64 * 1024 * 1024, '64Mi'))
    .addOption(
      new Option('--record-max-age <duration>', 'drop steps that are older').argParser(age).default(24n * 3_600_000_000_000n, '24h'),
    )
    .addOption(
      new Option('--record-workloads <duration>', 'how often to record all workloads without an eviction; 0s: never')
        .argParser(interval)
        .default(10_000_000_000n, '10s'),
    )
    .optionsGroup('Options:');
}

export function recordOption(description: string): Option {
  return new Option('--record <file>', description).argParser((text: string) => {
    if (text === '') throw new InvalidArgumentError('Use the path of a file.');
    return text;
  });
}

/** undefined: nothing is recorded. */
export function recordingPlan(options: RecordingOptions): RecordingPlan | undefined {
  const { record, recordMaxSize, recordMaxAge, recordWorkloads } = options;
  if (record === undefined) return undefined;
  return { path: record, limits: { maxBytes: recordMaxSize, maxAgeMs: Number(recordMaxAge / 1_000_000n) }, sampleEveryNs: recordWorkloads };
}

function size(text: string): number {
  const bytes = parsed(text, (quantity) => quantityValue(parseQuantity(quantity)));
  if (bytes < SMALLEST_BYTES || bytes > LARGEST_BYTES) throw new InvalidArgumentError('Use 64Ki to 8Ti.');
  return Number(bytes);
}

function age(text: string): bigint {
  const ns = parsed(text, parseDuration);
  if (ns < SHORTEST_NS) throw new InvalidArgumentError('Use at least 1m.');
  return ns;
}

function interval(text: string): bigint {
  const ns = parsed(text, parseDuration);
  if (ns < 0n) throw new InvalidArgumentError('Use at least 0s.');
  return ns;
}

function parsed(text: string, parse: (text: string) => bigint): bigint {
  try {
    return parse(text);
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? `${error.message}.` : String(error));
  }
}
