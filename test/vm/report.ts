import { readFileSync, writeFileSync } from 'node:fs';
import type { Results } from '../reporter.js';
import { suites } from './suites.js';

export interface Report extends Results {
  readonly suite: string;
  readonly seconds: number;
  /** The directory of its logs. */
  readonly logs: string;
  /** Of the suite: tests whose names it does not match are left out on purpose, and are no lack. */
  readonly only?: RegExp | undefined;
  /** Its files begin so, but for those that begin otherwise. */
  readonly files?: readonly string[] | undefined;
  readonly except?: readonly string[] | undefined;
  /** Why it did not come to its end: one failure, however much it had still to try. */
  readonly lost?: string | undefined;
}

/** What was tried on no machine at all. */
export interface Nowhere {
  /** Skipped wherever they were to run: each is a failure. */
  readonly skipped: readonly string[];
  /** A suite that was lost had them, which is the failure. */
  readonly untried: readonly { readonly test: string; readonly suite: string }[];
}

/** boot's status where a machine panicked, was killed or could not be had. */
const WENT_DOWN = 125;

/** What a run's status and results come to; without results no file of tests had ended. Whatever has no result is a failure. */
export function judged(results: Results | undefined, status: number | null, cause = ''): Results & { readonly lost?: string } {
  if (status === 0 && results !== undefined && results.passed.length > 0) return results;
  if (status === 1 && results !== undefined && results.failed.length > 0) return results;
  const how = `status ${String(status)}${cause === '' ? '' : `: ${cause}`}`;
  if (results === undefined) return { passed: [], failed: [], skipped: [], lost: `no file of tests had ended, ${how}` };
  return { ...results, lost: how };
}

/** Whether a run says nothing of evictd: no file of tests had ended, or the machine was lost, as an emulated one is now and then. */
export function saysNothing(results: Results | undefined, status: number | null, emulated: boolean): boolean {
  return results === undefined || (status === WENT_DOWN && emulated);
}

/** Two runs of one suite: the second counts, but what failed in the first has failed. */
export function onceMore(first: Report, second: Report): Report {
  const failed = new Set([...first.failed, ...second.failed]);
  const others = (names: readonly string[]): string[] => names.filter((name) => !failed.has(name));
  return {
    ...second,
    passed: others(second.passed),
    failed: [...failed],
    skipped: others(second.skipped),
    logs: first.failed.length > 0 ? `${first.logs}, ${second.logs}` : second.logs,
    seconds: first.seconds + second.seconds,
  };
}

/** Tests, and that the suite was lost. */
export function failuresOf({ failed, lost }: Report): string[] {
  return [...failed, ...(lost === undefined ? [] : [`the suite was lost: ${lost}`])];
}

/** Which controller a test ran on may be part of its name. */
const anyController = (name: string): string => name.replaceAll(/\bcgroup v\d\b/g, 'cgroup');

/** "FILE > SUITE > TEST" as vitest matches it against a pattern. */
const nameOf = (name: string): string => name.split(' > ').slice(1).join(' ');

/** For want of a tool, or of something that Debian's kernels leave out, not of a machine: `make test` tries them where it is there. */
const OUTSIDE = [/\(where there is a C compiler/, /\(where Python can/, / > irq has no `some`$/];

/** Tests that were skipped wherever they were to run: what is tried on no machine at all is not tried. */
export function neverRun(reports: readonly Report[]): Nowhere {
  const ran = new Set(reports.flatMap(({ passed, failed }) => [...passed, ...failed]).map(anyController));
  const meant = ({ skipped, only }: Report): string[] => skipped.filter((name) => only?.test(nameOf(name)) ?? true);
  const skipped = new Set(reports.flatMap(meant).map(anyController));
  const nowhere = [...skipped].filter((name) => !ran.has(name) && !OUTSIDE.some((outside) => outside.test(name))).sort();
  const lostWith = (test: string): string | undefined => reports.find((report) => hadStill(report, test))?.suite;
  return {
    skipped: nowhere.filter((test) => lostWith(test) === undefined),
    untried: nowhere.flatMap((test) => {
      const suite = lostWith(test);
      return suite === undefined ? [] : [{ test, suite }];
    }),
  };
}

/** Whether a suite was lost before it came to that test. */
function hadStill({ lost, files = [], except = [], only, skipped }: Report, test: string): boolean {
  const begins = (start: string): boolean => test.startsWith(start);
  if (lost === undefined || !files.some(begins) || except.some(begins)) return false;
  return (only?.test(nameOf(test)) ?? true) && !skipped.map(anyController).includes(test);
}

/** A table of the suites, what failed and where its logs are, and last "N passed, N failed". */
export function summary(reports: readonly Report[], nowhere: Nowhere): string {
  const rows = reports.map((report) => [
    report.suite,
    ...[report.passed.length, failuresOf(report).length, report.skipped.length, Math.round(report.seconds)].map(String),
  ]);
  const table = [['suite', 'passed', 'failed', 'skipped', 'seconds'], ...rows].map(
    ([suite = '', ...numbers]) => `${suite.padEnd(14)}${numbers.map((number) => number.padStart(9)).join('')}`,
  );
  const failures = reports.flatMap((report) =>
    failuresOf(report).map((failure) => `failed in ${report.suite} (logs: ${report.logs}): ${failure}`),
  );
  const untried = nowhere.untried.map(({ test, suite }) => `not tried, because ${suite} was lost: ${test}`);
  const skips = nowhere.skipped.map((name) => `skipped on every machine: ${name}`);
  const passed = reports.reduce((sum, report) => sum + report.passed.length, 0);
  const total = `${String(passed)} passed, ${String(failures.length + skips.length)} failed`;
  return `\n${[...table, '', ...untried, ...failures, ...skips, total].join('\n')}\n`;
}

const reportFile = (suite: string): string => `build/vm/${suite}/report.json`;

/** For the check of what no machine ran, which needs the reports of all suites. */
export function keepReport(report: Report): void {
  writeFileSync(reportFile(report.suite), JSON.stringify({ ...report, only: undefined }));
}

/** The report of a suite's last whole run; undefined where there is none. */
export function keptReport(suite: string): Report | undefined {
  try {
    const report = JSON.parse(readFileSync(reportFile(suite), 'utf8')) as Report;
    return { ...report, only: suites.find(({ name }) => name === suite)?.only };
  } catch {
    return undefined;
  }
}
