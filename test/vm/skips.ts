// After all suites (make vm, make proof): a test that was skipped on every machine is a failure. The last line is
// "N passed, N failed".
import { keptReport, neverRun, type Report } from './report.js';
import { suites } from './suites.js';

const reports = suites.map(({ name }) => keptReport(name) ?? name);
const missing = reports.filter((report): report is string => typeof report === 'string');
const { skipped, untried } = neverRun(reports.filter((report): report is Report => typeof report !== 'string'));

for (const suite of missing) process.stdout.write(`no report of ${suite}: make vm ARGS=${suite}\n`);
for (const { test, suite } of untried) process.stdout.write(`not tried, because ${suite} was lost: ${test}\n`);
for (const test of skipped) process.stdout.write(`skipped on every machine: ${test}\n`);
const failed = missing.length + skipped.length;
process.stdout.write(`${failed === 0 ? '1' : '0'} passed, ${String(failed)} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;
