import { InvalidArgumentError } from 'commander';
import { suggestion } from '../../config/key.js';
import { STORAGE_LIMIT_SIGNALS } from '../../core/eviction-signal.js';
import { SIGNALS } from '../../core/signal.js';

/** Results of an eviction, for `--result`. */
export const RESULTS: readonly string[] = ['killed', 'ineffective', 'failed', 'vanished', 'abandoned', 'unseen', 'in-flight', 'dry-run'];

/** Types of records (docs/journal.md), and 'eviction' for three of them joined. */
export const TYPES: readonly string[] = [
  'eviction',
  ...[
    'decision',
    'escalation',
    'outcome',
    'alert',
    'kernel-oom',
    'error',
    'threshold',
    'condition',
    'reclaim',
    'reclaimed',
    'release',
    'removal',
    'holders',
    'filesystems',
    'shutdown',
    'ended',
  ],
  ...['start', 'reload', 'reload-refused', 'stop', 'torn', 'oversize'],
];

export const RECORDED_SIGNALS: readonly string[] = [...SIGNALS, ...STORAGE_LIMIT_SIGNALS];

/** Parses an option that is a list and repeatable. @throws InvalidArgumentError  for a word that is not `known` */
export function listOf(known: readonly string[]): (text: string, before: readonly string[]) => readonly string[] {
  return (text, before) => {
    const words = listed(text);
    const wrong = words.find((word) => !known.includes(word));
    if (wrong !== undefined) throw new InvalidArgumentError(`'${wrong}': ${suggestion(wrong, known)}`);
    return [...before, ...words];
  };
}

/** 'a, b' */
export function listed(text: string): readonly string[] {
  return text
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');
}
