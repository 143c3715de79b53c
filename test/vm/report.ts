import { readFileSync, writeFileSync } from 'node:fs';
import type { Results } from '../reporter.js';

export interface Report extends Results {
  readonly suite: string;
  readonly seconds: number;
  /** The directory of its logs. */
  readonly logs: string;
  /** Tests whose names do not match are excluded on purpose. */
  readonly only?: RegExp | undefined;
  /** Prefixes of its files, and of excluded ones. */
  readonly files?: readonly string[] | undefined;
  readonly except?: readonly string[] | undefined;
  /** Why the suite did not complete: counts as one failure. */
  readonly lost?: string | undefined;
}

/** Tests that ran on no machine. */
export interface Nowhere {
  /** Skipped on every machine: each is a failure. */
  readonly skipped: readonly string[];
  /** Tests of a lost suite, which counts as the failure. */
  readonly untried: readonly { readonly test: string; readonly suite: string }[];
}

/** Status of boot if a machine panicked, was killed or could not start. */
const WENT_DOWN = 125;

/** Results of a run by its status; without results no test file had ended, which is a failure. */
export function judged(results: Results | undefined, status: number | null, cause = ''): Results & { readonly lost?: string } {
  if (status === 0 && results !== undefined && results.passed.length > 0) return results;
  if (status === 1 && results !== undefined && results.failed.length > 0) return results;
  const how = `status ${String(status)}${cause === '' ? '' : `: ${cause}`}`;
  if (results === undefined) return { passed: [], failed: [], skipped: [], lost: `no file of tests had ended, ${how}` };
  return { ...results, lost: how };
}

/** Whether a run tells nothing about evictd: no test file had ended, or an emulated machine was lost. */
export function saysNothing(results: Results | undefined, status: number | null, emulated: boolean): boolean {
  return results === undefined || (status === WENT_DOWN && emulated);
}

/** Two runs of one suite: the second counts, with the failures of both. */
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

/** Failed tests, and the loss of the suite. */
export function failuresOf({ failed, lost }: Report): string[] {
  return [...failed, ...(lost === undefined ? [] : [`the suite was lost: ${lost}`])];
}

/** Removes the cgroup version from a test name. */
export const anyController = (name: string): string => name.replaceAll(/\bcgroup v\d\b/g, 'cgroup');

/** "FILE > SUITE > TEST" as vitest matches it against a pattern. */
export const nameOf = (name: string): string => name.split(' > ').slice(1).join(' ');

/**
 * Tests that need a tool or a kernel feature that the machines lack (irq: CONFIG_IRQ_TIME_ACCOUNTING): `make test` runs
 * them where it is present.
 */
const OUTSIDE = [/\(where there is a C compiler/, /\(where Python can/, /irq has no `some`$/];

/** Tests that were skipped on every machine. */
export function neverRun(reports: readonly Report[]): Nowhere {
  const ran = new Set(reports.flatMap(({ passed, failed }) => [...passed, ...failed]).map(anyController));
  const meant = ({ skipped, only }: Report): string[] => skipped.filter((name) => only?.test(nameOf(name)) ?? true);
  const skipped = new Set(reports.flatMap(meant).map(anyController));
  const hasRun = (test: string): boolean => ran.has(test) || reports.some((report) => report.lost === undefined && tries(report, test));
  const nowhere = [...skipped].filter((name) => !hasRun(name) && !OUTSIDE.some((outside) => outside.test(name))).sort();
  const lostWith = (test: string): string | undefined => reports.find((report) => report.lost !== undefined && tries(report, test))?.suite;
  return {
    skipped: nowhere.filter((test) => lostWith(test) === undefined),
    untried: nowhere.flatMap((test) => {
      const suite = lostWith(test);
      return suite === undefined ? [] : [{ test, suite }];
    }),
  };
}

/** Whether a suite has that test, and has not skipped it. */
function tries({ files = [], except = [], only, skipped }: Report, test: string): boolean {
  const begins = (start: string): boolean => test.startsWith(start);
  if (!files.some(begins) || except.some(begins)) return false;
  return (only?.test(nameOf(test)) ?? true) && !skipped.map(anyController).includes(test);
}

/** A table of the suites, failures with their logs, and last "N passed, N failed". */
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

/** For the check of skipped tests (skips.ts), which needs those of all suites. */
export function keepReport(report: Report): void {
  writeFileSync(reportFile(report.suite), JSON.stringify({ ...report, only: undefined }));
}

/** What the last complete run of a suite has skipped. */
export function skippedIn(suite: string): readonly string[] | undefined {
  try {
    return (JSON.parse(readFileSync(reportFile(suite), 'utf8')) as Report).skipped;
  } catch {
    return undefined;
  }
}
