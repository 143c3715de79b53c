// After all suites (make proof): a test that was skipped on every machine is run here, and is a failure unless it passes.
// The last line is "N passed, N failed".
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { relative } from 'node:path';
import { readResults } from '../proof/results-file.js';
import { anyController, nameOf, neverRun, type Report } from './report.js';
import { suites } from './suites.js';

const OUTPUT = 'build/proof/vm-skips.json';

interface Output {
  readonly testResults: readonly {
    readonly name: string;
    readonly assertionResults: readonly { readonly ancestorTitles: readonly string[]; readonly title: string; readonly status: string }[];
  }[];
}

/** @param tests  "FILE > SUITE > TEST", with `cgroup` for any of its versions */
function passedHere(tests: readonly string[]): ReadonlySet<string> {
  if (tests.length === 0) return new Set();
  mkdirSync('build/proof', { recursive: true });
  rmSync(OUTPUT, { force: true });
  const names = tests.map(nameOf);
  const pattern = names.map((name) => name.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&').replaceAll(/\bcgroup\b/g, 'cgroup( v\\d)?')).join('|');
  const files = [...new Set(tests.map((test) => test.split(' > ')[0] ?? ''))];
  spawnSync(
    'node_modules/.bin/vitest',
    ['run', ...files, '-t', pattern, '--reporter=default', '--reporter=json', `--outputFile.json=${OUTPUT}`],
    { stdio: 'inherit' },
  );
  if (!existsSync(OUTPUT)) return new Set(); // vitest has said why it could not start
  const { testResults } = JSON.parse(readFileSync(OUTPUT, 'utf8')) as Output;
  const all = testResults.flatMap(({ name, assertionResults }) =>
    assertionResults
      .filter(({ status }) => status === 'passed')
      .map(({ ancestorTitles, title }) => [relative('.', name), ...ancestorTitles, title].join(' > ')),
  );
  const asked = new Set(tests);
  return new Set(all.map(anyController).filter((name) => asked.has(name)));
}

const results = readResults();
const reports = suites.flatMap(({ name, ...meant }): Report[] => {
  const { failed, seconds = 0, skipped } = results[`vm-${name}`] ?? {};
  return failed === 0 && skipped !== undefined ? [{ ...meant, suite: name, seconds, logs: '', passed: [], failed: [], skipped }] : [];
});
const missing = suites.filter(({ name }) => !reports.some(({ suite }) => suite === name));
const skipped = neverRun(reports).skipped;
const passed = passedHere(skipped);
const skippedHere = skipped.filter((test) => !passed.has(test));

for (const { name } of missing) process.stdout.write(`${name} has not passed: make proof ARGS=vm-${name}\n`);
for (const test of skippedHere) process.stdout.write(`skipped on every machine: ${test}\n`);
const failures = missing.length + skippedHere.length;
process.stdout.write(`${String(passed.size + (failures === 0 ? 1 : 0))} passed, ${String(failures)} failed\n`);
process.exitCode = failures === 0 ? 0 : 1;
