// After all suites (make proof): a test that was skipped on every machine is a failure. The last line is "N passed, N
// failed".
import { readResults } from '../proof/results-file.js';
import { neverRun, type Report } from './report.js';
import { suites } from './suites.js';

const results = readResults();
const reports = suites.flatMap(({ name, ...meant }): Report[] => {
  const { failed, seconds = 0, skipped } = results[`vm-${name}`] ?? {};
  return failed === 0 && skipped !== undefined ? [{ ...meant, suite: name, seconds, logs: '', passed: [], failed: [], skipped }] : [];
});
const missing = suites.filter(({ name }) => !reports.some(({ suite }) => suite === name));
const { skipped } = neverRun(reports);

for (const { name } of missing) process.stdout.write(`${name} has not passed: make proof ARGS=vm-${name}\n`);
for (const test of skipped) process.stdout.write(`skipped on every machine: ${test}\n`);
const failures = missing.length + skipped.length;
process.stdout.write(`${failures === 0 ? '1' : '0'} passed, ${String(failures)} failed\n`);
process.exitCode = failures === 0 ? 0 : 1;
