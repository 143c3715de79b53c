import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Results } from '../reporter.js';
import { bundleTests, PROJECT } from './bundles.js';
import { buildPackage } from './package.js';
import { failuresOf, judged, keepReport, neverRun, onceMore, type Report, saysNothing, summary } from './report.js';
import { PACKAGE_TEST, type Suite, suites } from './suites.js';

// make vm [ARGS='SUITE... FILE...']: runs each suite in its own machine, two at a time; all suites unless some are
// named. With files, those instead of the files of the suite (in v2-a unless another is named): other arguments go to
// vitest. The last line is "N passed, N failed".

const names = process.argv.slice(2).filter((argument) => suites.some(({ name }) => name === argument));
const forVitest = process.argv.slice(2).filter((argument) => !names.includes(argument));
const chosen =
  names.length > 0
    ? suites.filter(({ name }) => names.includes(name))
    : suites.filter(({ name }) => forVitest.length === 0 || name === 'v2-a');
/** Of this run: machines of another run may read theirs. */
const bundles = `build/vm/tests-${names.length > 0 ? names.join('-') : 'all'}`;

/** A machine has two processors, but tests mostly wait. More machines only slow each other down. */
const AT_A_TIME = Math.min(2, availableParallelism());

/** Signals that end the machines: their suites count as failed, and the others do not start. */
const INTERRUPTIONS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
let interrupted = false;

/** The last line of `boot` on standard error is the reason of a status that is not that of the command. */
const BOOT_SAYS = /^evictd: vm: (.*)$/;
const BOOTS_OWN: readonly (number | null)[] = [124, 125];

/** Inherits standard error, which has the reason of a failure. */
function said(command: string, ...args: string[]): string | undefined {
  const { status, stdout } = spawnSync(join(import.meta.dirname, command), args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return status === 0 ? stdout.trim() : undefined;
}

/** Runs a suite again in another machine after a panic: emulated kernels panic at times, without a fault of evictd. */
async function run(suite: Suite, emulated: boolean): Promise<Report> {
  const first = await runOnce(suite, emulated, suite.name);
  if (!first.saysNothing || interrupted) return first.report;
  process.stderr.write(
    `evictd: vm: ${suite.name} was lost: ${String(first.report.lost)} (logs: ${first.report.logs}); all of it once more\n`,
  );
  return onceMore(first.report, (await runOnce(suite, emulated, `${suite.name}-again`)).report);
}

async function runOnce(suite: Suite, emulated: boolean, name: string): Promise<{ readonly report: Report; readonly saysNothing: boolean }> {
  const logs = join('build/vm', name);
  rmSync(logs, { recursive: true, force: true });
  mkdirSync(logs, { recursive: true });
  const slowness = process.env.EVICTD_TEST_SLOWNESS ?? (emulated ? '5' : '1');
  const options = {
    cgroup: suite.machine.cgroup,
    memory: `${String(suite.machine.memoryGib ?? 2)}G`,
    out: logs,
    'time-limit': String((suite.limitMinutes * 60 * Math.max(5, Number(slowness))) / 5),
    ...(suite.machine.swap ? { swap: '1G' } : {}),
    ...(suite.machine.memoryNodes ? { parameters: `numa=fake=${String(suite.machine.memoryNodes)}` } : {}),
  };
  const environment = {
    CI: 'true',
    NO_COLOR: '1',
    EVICTD_VM_SUITE: JSON.stringify({ ...suite, only: undefined, ...(forVitest.length > 0 && { except: undefined }) }),
  };
  const inMachine = {
    ...environment,
    EVICTD_TEST_SLOWNESS: slowness,
    EVICTD_TEST_RESULTS: '/out/results.json',
    EVICTD_TEST_BUNDLES: join(PROJECT, bundles),
  };
  const plainRoot = suite.without ? ['setpriv', `--inh-caps=-${suite.without.slice(4)}`, `--bounding-set=-${suite.without.slice(4)}`] : [];
  const files =
    forVitest.length > 0
      ? forVitest
      : [...(suite.outside ? [] : ['test/vm/machine']), ...filesOf(suite), ...(suite.only ? ['-t', suite.only.source] : [])];
  const began = performance.now();
  const vitest = ['node_modules/vitest/vitest.mjs', 'run'];
  const bundled = ['--root', bundles, '--configLoader', 'native', ...files.map((file) => file.replace(/\.ts$/, '.js'))];
  const machine = suite.outside
    ? spawn(process.execPath, [...vitest, ...files], {
        env: { ...process.env, ...environment, EVICTD_TEST_SLOWNESS: undefined, EVICTD_TEST_RESULTS: join(logs, 'results.json') },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
    : spawn(
        join(import.meta.dirname, 'boot'),
        [
          ...Object.entries(options).flatMap(([option, value]) => [`--${option}`, value]),
          ...Object.entries(inMachine).flatMap(([name, value]) => ['--env', `${name}=${value}`]),
          ...[...plainRoot, 'node', ...vitest, ...bundled],
        ],
        { stdio: ['ignore', 'pipe', 'pipe'] },
      );
  createInterface({ input: machine.stdout }).on('line', (line) => process.stdout.write(`${suite.name.padEnd(13)} | ${line}\n`));
  let cause = '';
  createInterface({ input: machine.stderr }).on('line', (line) => {
    process.stderr.write(`${suite.name.padEnd(13)} | ${line}\n`);
    cause = BOOT_SAYS.exec(line)?.[1] ?? cause;
  });
  machine.stdout.pipe(createWriteStream(join(logs, 'output.log')));
  const stop = (signal: NodeJS.Signals) => {
    interrupted = true;
    machine.kill(signal);
  };
  for (const signal of INTERRUPTIONS) process.on(signal, stop);
  const [status] = (await once(machine, 'close')) as [number | null];
  for (const signal of INTERRUPTIONS) process.off(signal, stop);
  const seconds = (performance.now() - began) / 1000;
  const results = resultsIn(logs);
  const report = { ...meant(suite), logs, seconds, ...judged(results, status, BOOTS_OWN.includes(status) ? cause : '') };
  return { report, saysNothing: saysNothing(results, status, emulated) };
}

const order = ({ suite }: Report): number => suites.findIndex(({ name }) => name === suite);

/** What the suite was to try. */
function meant({ name, only, files, except }: Suite): Pick<Report, 'suite' | 'only' | 'files' | 'except'> {
  return { suite: name, only, files, except };
}

/** undefined: no test file had ended. */
function resultsIn(logs: string): Results | undefined {
  try {
    return JSON.parse(readFileSync(join(logs, 'results.json'), 'utf8')) as Results;
  } catch {
    return undefined;
  }
}

const filesOf = ({ files }: Suite): readonly string[] => (forVitest.length > 0 ? forVitest : files);

/** Two versions for the test of the Debian package. */
function buildPackages(): boolean {
  if (!chosen.flatMap(filesOf).some((start) => PACKAGE_TEST.startsWith(start) || start.startsWith(PACKAGE_TEST))) return true;
  return ['1.0', '1.1'].every((version) => buildPackage(`build/deb/test/${version}.deb`, '--version', version));
}

async function main(): Promise<boolean> {
  const accel = said('boot', '--accel');
  if (accel === undefined || said('image/build') === undefined) {
    process.stdout.write(`no machine, so that nothing was tried (see above)\n0 passed, 1 failed\n`);
    return false;
  }
  if (!buildPackages()) {
    process.stdout.write('no Debian package, so that nothing was tried (see above)\n0 passed, 1 failed\n');
    return false;
  }
  await bundleTests(bundles);
  const reports: Report[] = [];
  process.stdout.write(`machines: ${accel === 'tcg' ? 'emulated' : accel}\n`);
  const left = [...chosen];
  const one = async (): Promise<void> => {
    for (let suite = left.shift(); suite !== undefined && !interrupted; suite = left.shift())
      reports.push(await run(suite, accel === 'tcg'));
    if (forVitest.length === 0) reports.forEach(keepReport);
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, one));
  reports.sort((a, b) => order(a) - order(b));
  const nowhere =
    forVitest.length === 0 && chosen.length === suites.length && !interrupted ? neverRun(reports) : { skipped: [], untried: [] };
  process.stdout.write(summary(reports, nowhere));
  return nowhere.skipped.length === 0 && reports.every((report) => failuresOf(report).length === 0);
}

process.exitCode = (await main()) ? 0 : 1;
