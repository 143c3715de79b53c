// make proof [ARGS='PART... [--again | --table]']: runs what CI leaves out, part by part (test/proof/parts.ts), and
// ends with a table and "N passed, N failed". A part that has passed, and reads nothing that has changed since, is not run
// again: an interrupted proof goes on where it stopped. --again runs it, --table runs nothing.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdirSync } from 'node:fs';
import { skippedIn } from '../vm/report.js';
import { PARTS, type Part } from './parts.js';
import { keepResult, readResults, RESULTS_FILE } from './results-file.js';
import { choose, count, isProved, nextPart, table } from './results.js';

const DIRECTORY = 'build/proof';
/** Lines of a log that say what failed: vitest's, the C++ runner's, the sanitizers', make's. */
const FAILURE = /(^|\| ) ?FAIL |^FAILED |^failed in |^skipped on every machine|^ERROR: |^==\d+==ERROR|^make: \*\*\*/;

function git(...args: readonly string[]): string {
  return spawnSync('git', args, { encoding: 'utf8' }).stdout.trim();
}

function currentCommit(): string {
  return `${git('rev-parse', '--short', 'HEAD')}${git('status', '--porcelain', '--', ':/', `:!${RESULTS_FILE}`) === '' ? '' : '+'}`;
}

/** Against the tree as it is; undefined: the commit is not there. */
function changedSince(commit: string): readonly string[] | undefined {
  const { status, stdout } = spawnSync('git', ['diff', '--name-only', '--no-renames', commit], { encoding: 'utf8' });
  return status === 0 ? stdout.split('\n').filter((file) => file !== '') : undefined;
}

function missing({ needs = {} }: Part): string[] {
  return Object.entries(needs).flatMap(([command, packages]) =>
    spawnSync('sh', ['-c', `command -v '${command}'`]).status === 0 ? [] : [packages],
  );
}

const say = (line: string): void => void process.stdout.write(`${line}\n`);
let interrupted = false;

async function run(part: Part, commit: string): Promise<void> {
  const log = `${DIRECTORY}/${part.name}.log`;
  const packages = missing(part);
  if (packages.length > 0) {
    keepResult(part.name, { passed: 0, failed: 1, seconds: 0, commit, command: part.command.join(' ') });
    say(`${part.name}: cannot run: apt-get install ${packages.join(' ')}`);
    return;
  }
  say(`${part.name}: ${part.proves}`);
  const began = performance.now();
  const [command = '', ...args] = part.command;
  const child = spawn(command, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    // make hands its own arguments on to every make below it: a part would take the names of parts for its tests.
    env: { ...process.env, ARGS: undefined, MAKEFLAGS: undefined, MFLAGS: undefined, CI: 'true', NO_COLOR: '1', ...part.environment },
  });
  const chunks: Buffer[] = [];
  const file = createWriteStream(log);
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.pipe(file, { end: false });
  }
  const stop = (signal: NodeJS.Signals): void => {
    interrupted = true;
    child.kill(signal);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop);
  const [status] = (await once(child, 'close')) as [number | null];
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.off(signal, stop);
  file.end();
  const output = Buffer.concat(chunks).toString();
  const seconds = Math.round((performance.now() - began) / 1000);
  const skipped = part.suite === undefined ? undefined : skippedIn(part.suite);
  const result = {
    ...count(output, status, part.closingLines ?? 1),
    seconds,
    commit,
    command: part.command.join(' '),
    ...(skipped && { skipped }),
  };
  if (interrupted && result.failed > 0) return; // no result: it is run again
  keepResult(part.name, result);
  say(`${part.name}: ${String(result.passed)} passed, ${String(result.failed)} failed, ${String(seconds)} s`);
  if (result.failed === 0) return;
  const failures = output.split('\n').filter((line) => FAILURE.test(line));
  say([...failures.slice(0, 40), `repeat it alone: make proof ARGS=${part.name}   (log: ${log})`].join('\n'));
}

/** Two at a time, unless a part is to be alone. */
async function runAll(parts: readonly Part[], commit: string): Promise<void> {
  const left = [...parts];
  const running = new Map<Part, Promise<void>>();
  while (left.length > 0 && !interrupted) {
    const next = nextPart(left, [...running.keys()]);
    if (next === undefined) {
      await Promise.race(running.values());
      continue;
    }
    left.splice(left.indexOf(next), 1);
    running.set(
      next,
      run(next, commit).finally(() => running.delete(next)),
    );
  }
  await Promise.all(running.values());
}

async function main(): Promise<void> {
  const options = process.argv.slice(2).filter((word) => word.startsWith('--'));
  const chosen = choose(
    PARTS,
    process.argv.slice(2).filter((word) => !word.startsWith('--')),
  );
  mkdirSync(DIRECTORY, { recursive: true });
  const commit = currentCommit();
  const before = readResults();
  const left = chosen.filter((part) => options.includes('--again') || !isProved(before[part.name], part, changedSince));
  for (const { name } of chosen.filter((part) => !left.includes(part))) {
    say(`${name}: passed at ${before[name]?.commit ?? ''} already (--again runs it)`);
  }
  if (!options.includes('--table')) await runAll(left, commit);
  const results = readResults();
  const names = chosen.map(({ name }) => name);
  say(`\n${table(names, results)}\n`);
  const sum = (of: 'passed' | 'failed'): number => names.reduce((total, name) => total + (results[name]?.[of] ?? 0), 0);
  say(`${String(sum('passed'))} passed, ${String(sum('failed'))} failed`);
  process.exitCode = chosen.every((part) => isProved(results[part.name], part, changedSince)) ? 0 : 1;
}

try {
  await main();
} catch (error) {
  if (!(error instanceof RangeError)) throw error;
  process.stderr.write(`evictd: proof: ${error.message}\n`);
  process.exitCode = 64;
}
