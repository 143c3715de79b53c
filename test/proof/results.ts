import type { Part } from './parts.js';

/** What one run of a part came to. */
export interface Result {
  readonly passed: number;
  readonly failed: number;
  readonly seconds: number;
  /** The short id of the commit; with a '+' where the tree had other changes. */
  readonly commit: string;
  /** What was run, its arguments included. */
  readonly command: string;
  /** Of a suite of machines: tests that were skipped there, for the part vm-skips. */
  readonly skipped?: readonly string[];
}

/** By the name of the part. */
export type Results = Readonly<Record<string, Result>>;

/**
 * The parts that `words` choose, in their order: names, groups, all parts without a word.
 *
 * @throws RangeError  for a word that is neither
 */
export function choose<P extends { readonly name: string; readonly group?: string }>(
  parts: readonly P[],
  words: readonly string[],
): readonly P[] {
  const chooses = ({ name, group }: P, word: string): boolean => word === name || word === group;
  const unknown = words.filter((word) => !parts.some((part) => chooses(part, word)));
  if (unknown.length > 0) {
    const known = [...new Set(parts.flatMap(({ name, group }) => (group === undefined ? [name] : [group, name])))];
    throw new RangeError(`no part ${unknown.join(', ')}; there are ${known.join(', ')}`);
  }
  return words.length === 0 ? parts : parts.filter((part) => words.some((word) => chooses(part, word)));
}

/** A bundle that `evictd replay` loads, and nothing else. */
export const REPLAY = 'src/features/replay/';

/** What begins so counts only for the parts that name it, as tests and documents do. */
const NOT_FOR_ALL = [
  ...['.ci/', '.oxlintrc.json', '.oxfmtrc.json', '.clang-format', 'native/test/'],
  ...['test/arm64/', 'test/chaos/', 'test/proof/', 'test/vm/'],
  REPLAY,
];

/**
 * Whether a part has passed, in a tree without changes of its own, and neither its command nor anything that it reads
 * differs since.
 *
 * @param part  see Part
 * @param changed  the files that differ from a commit; undefined: it is not known
 */
export function isProved(
  result: Result | undefined,
  { command, reads, except = [], only }: Pick<Part, 'command' | 'reads' | 'except' | 'only'>,
  changed: (commit: string) => readonly string[] | undefined,
): boolean {
  if (result?.failed !== 0 || result.passed === 0 || result.commit.endsWith('+') || result.command !== command.join(' ')) return false;
  const isUnder = (starts: readonly string[], file: string): boolean => starts.some((start) => file.startsWith(start));
  const isForAll = (file: string): boolean => !(/\.(test\.ts|md)$/.test(file) || isUnder(NOT_FOR_ALL, file));
  const isRead = (file: string): boolean =>
    only ? isUnder(only, file) : isForAll(file) || (isUnder(reads, file) && !isUnder(except, file));
  return changed(result.commit)?.some(isRead) === false;
}

/**
 * Counts the tests of a run by its closing lines, "N passed, N failed" each.
 *
 * A run that ended with an error, or in which no test ran, has at least one failure; one without a closing line counts
 * as one test.
 */
export function count(output: string, status: number | null, closingLines: number): Pick<Result, 'passed' | 'failed'> {
  const lines = [...output.matchAll(/^(\d+) passed, (\d+) failed\s*$/gm)].slice(-closingLines);
  const sum = (group: 1 | 2): number => lines.reduce((total, line) => total + Number(line[group]), 0);
  const [passed, failed] = [sum(1), sum(2)];
  if (status === 0 && lines.length === 0) return { passed: 1, failed: 0 };
  return { passed, failed: status === 0 && passed > 0 ? failed : Math.max(failed, 1) };
}

/**
 * The part to begin beside those that run; undefined: one of them has to end first.
 *
 * @param left  in the order in which they should run
 */
export function nextPart<P extends { readonly alone?: true; readonly uses?: string }>(
  left: readonly P[],
  running: readonly P[],
): P | undefined {
  if (running.length === 0) return left[0];
  if (running.length > 1 || running.some(({ alone }) => alone)) return undefined;
  const end = left.findIndex(({ alone }) => alone);
  return left
    .slice(0, end === -1 ? left.length : end)
    .find(({ uses }) => uses === undefined || running.every((part) => part.uses !== uses));
}

/** One row a part; a part without a result has dashes. */
export function table(names: readonly string[], results: Results): string {
  const rows = names.map((name) => {
    const result = results[name];
    return result === undefined
      ? [name, '-', '-', '-', '-']
      : [name, String(result.passed), String(result.failed), result.seconds.toFixed(0), result.commit];
  });
  const width = Math.max(...names.map((name) => name.length), 'part'.length) + 2;
  return [['part', 'passed', 'failed', 'seconds', 'commit'], ...rows]
    .map(([name = '', ...cells]) => `${name.padEnd(width)}${cells.map((cell) => cell.padStart(10)).join('')}`.trimEnd())
    .join('\n');
}
