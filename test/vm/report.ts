import type { Results } from '../reporter.js';

export interface Report extends Results {
  readonly suite: string;
  readonly seconds: number;
  /** The directory of its logs. */
  readonly logs: string;
  /** Of the suite: tests whose names it does not match are left out on purpose, and are no lack. */
  readonly only?: RegExp | undefined;
}

/** Which controller a test ran on may be part of its name. */
const anyController = (name: string): string => name.replaceAll(/\bcgroup v\d\b/g, 'cgroup');

/** "FILE > SUITE > TEST" as vitest matches it against a pattern. */
const nameOf = (name: string): string => name.split(' > ').slice(1).join(' ');

/** For want of a tool, or of something that Debian's kernels leave out, not of a machine: `make test` tries them where it is there. */
const OUTSIDE = [/\(where there is a C compiler/, /\(where Python can/, / > irq has no `some`$/];

/** Tests that were skipped wherever they were to run: what is tried on no machine at all is not tried. */
export function neverRun(reports: readonly Report[]): string[] {
  const ran = new Set(reports.flatMap(({ passed, failed }) => [...passed, ...failed]).map(anyController));
  const meant = ({ skipped, only }: Report): string[] => skipped.filter((name) => only?.test(nameOf(name)) ?? true);
  const skipped = new Set(reports.flatMap(meant).map(anyController));
  return [...skipped].filter((name) => !ran.has(name) && !OUTSIDE.some((outside) => outside.test(name))).sort();
}

/** A table of the suites, what failed and where its logs are, and last "N passed, N failed". */
export function summary(reports: readonly Report[], nowhere: readonly string[]): string {
  const rows = reports.map(({ suite, passed, failed, skipped, seconds }) => [
    suite,
    ...[passed.length, failed.length, skipped.length, Math.round(seconds)].map(String),
  ]);
  const table = [['suite', 'passed', 'failed', 'skipped', 'seconds'], ...rows].map(
    ([suite = '', ...numbers]) => `${suite.padEnd(14)}${numbers.map((number) => number.padStart(9)).join('')}`,
  );
  const failures = reports.flatMap(({ suite, logs, failed }) => failed.map((name) => `failed in ${suite} (logs: ${logs}): ${name}`));
  const skips = nowhere.map((name) => `skipped on every machine: ${name}`);
  const count = (of: 'passed' | 'failed') => reports.reduce((sum, report) => sum + report[of].length, 0);
  const total = `${String(count('passed'))} passed, ${String(count('failed') + nowhere.length)} failed`;
  return `\n${[...table, '', ...failures, ...skips, total].join('\n')}\n`;
}
