// make lab ARGS='race [option...] [CONTESTANT...]', 'idle …', 'thrash …' or 'summary': docs/lab.md.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { hardware } from '../bench/machine.js';
import { publish } from '../bench/published.js';
import { buildPackage } from '../vm/package.js';
import { lineOf } from './fields.js';
import { parseRounds } from './round.js';
import { idleSummary, raceSummary, thrashSummary } from './summary.js';

/** Those that run unless some are named; test/lab/contestants has a file for each. */
const RACING = ['kernel', 'earlyoom', 'nohang', 'oomd', 'systemd-oomd', 'evictd'];
const IDLE = ['earlyoom', 'nohang', 'oomd', 'systemd-oomd', 'node', 'evictd'];
const THRASHING = ['kernel', 'evictd-defaults'];

/** The guest finds here what is built for it. */
const BUILT = 'build/lab';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '5' },
    rates: { type: 'string', default: '10,50,200,0' },
    memory: { type: 'string', default: '1G' },
    swap: { type: 'string', default: 'none' },
    occupied: { type: 'string', default: 'nothing' },
    seconds: { type: 'string', default: '120' },
    out: { type: 'string', default: BUILT },
  },
});
const [word = '', ...named] = positionals;
const out = values.out;
/** Names this run, so that only its own times are compared. */
const run = new Date().toISOString();

/** Only for a machine that hangs: a round with 16 GiB of memory to fill takes some minutes. */
const SECONDS_A_ROUND = 1200;
const SECONDS_TO_START = 600;

const INTERRUPTIONS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

const WORDS: Readonly<Record<string, () => Promise<void> | void>> = { race, idle, thrash, summary };

const words = WORDS[word];
const strangers = named.filter((name) => !existsSync(join(import.meta.dirname, 'contestants', `${name}.sh`)));
if (words === undefined || strangers.length > 0) {
  process.stderr.write(
    strangers.length > 0 ? `no contestant ${strangers.join(', ')}\n` : `${Object.keys(WORDS).join(', ')}: docs/lab.md\n`,
  );
  process.exit(64);
}
mkdirSync(out, { recursive: true });
await words();

/** Each contestant on each machine in a throw-away machine of its own, one after the other. */
async function race(): Promise<void> {
  const contestants = named.length > 0 ? named : RACING;
  prepare(contestants);
  const rates = values.rates.split(',');
  const limit = SECONDS_TO_START + Number(values.rounds) * rates.length * SECONDS_A_ROUND;
  for (const each of machinesOf(contestants)) {
    const { who, memory, swap, occupied } = each;
    const logs = await boot(Object.values(each).join('-'), memory, limit, ['race.sh', who, values.rounds, swap, occupied, ...rates]);
    const lines = parseRounds(textOf(join(logs, 'rounds')), { run, ...each });
    appendFileSync(join(out, 'race.lines'), lines.map((line) => `${line}\n`).join(''));
  }
  process.stdout.write(`${raceSummary(linesOf('race').filter(ofThisRun)).table}\n`);
}

/** Work that may put memory under pressure, one kind after the other, beside each contestant. */
async function thrash(): Promise<void> {
  const contestants = named.length > 0 ? named : THRASHING;
  prepare(contestants);
  for (const { who, memory, swap } of machinesOf(contestants)) {
    const logs = await boot(`thrash-${who}-${memory}-${swap}`, memory, SECONDS_TO_START + 8 * Number(values.seconds), [
      ...['thrash.sh', who, swap, values.seconds],
    ]);
    const lines = textOf(join(logs, 'works')).split('\n').filter(Boolean);
    appendFileSync(join(out, 'thrash.lines'), lines.map((line) => `${lineOf({ run, memory, swap })} ${line}\n`).join(''));
  }
  process.stdout.write(`${thrashSummary(linesOf('thrash').filter(ofThisRun)).table}\n`);
}

interface LabMachine {
  readonly who: string;
  readonly memory: string;
  readonly swap: string;
  readonly occupied: string;
}

function machinesOf(contestants: readonly string[]): readonly LabMachine[] {
  return values.memory
    .split(',')
    .flatMap((memory) => values.swap.split(',').map((swap) => ({ memory, swap })))
    .flatMap((machine) => values.occupied.split(',').map((occupied) => ({ ...machine, occupied })))
    .flatMap((machine) => contestants.map((who) => ({ who, ...machine })));
}

/** All contestants side by side on one machine: they share what disturbs it. */
async function idle(): Promise<void> {
  const contestants = named.length > 0 ? named : IDLE;
  prepare(contestants);
  const logs = await boot('idle', values.memory, SECONDS_TO_START + 2 * Number(values.seconds), [
    'idle.sh',
    values.seconds,
    ...contestants,
  ]);
  const lines = textOf(join(logs, 'costs')).split('\n').filter(Boolean);
  appendFileSync(join(out, 'idle.lines'), lines.map((line) => `${lineOf({ run })} ${line}\n`).join(''));
  process.stdout.write(`${idleSummary(linesOf('idle').filter(ofThisRun)).table}\n`);
}

/** Prints the tables of everything in `out`, and writes them into docs/benchmarks.md. */
function summary(): void {
  const accel = execFileSync('test/vm/boot', ['--accel'], { encoding: 'utf8' }).trim();
  const machines = `machines: ${accel === 'tcg' ? 'emulated' : accel}`;
  for (const [name, summaryOf] of Object.entries({ race: raceSummary, idle: idleSummary, thrash: thrashSummary })) {
    const lines = linesOf(name);
    if (lines.length === 0) continue;
    const { table, runs } = summaryOf(lines);
    process.stdout.write(`${table}\n\n`);
    publish(`lab-${name}`, `${hardware()}\n${machines}, ${runs}`, table);
  }
}

function ofThisRun(line: string): boolean {
  return line.startsWith(`${lineOf({ run })} `);
}

/** Statically linked: the pages of a C library are not what these programs wait for. */
function prepare(contestants: readonly string[]): void {
  mkdirSync(BUILT, { recursive: true });
  for (const name of ['load', 'referee'])
    execFileSync('cc', ['-O2', '-static', '-Wall', '-Wextra', '-Werror', '-o', join(BUILT, name), join(import.meta.dirname, `${name}.c`)]);
  if (contestants.some((name) => name.startsWith('evictd')) && !buildPackage(join(BUILT, 'evictd.deb'))) process.exit(1);
}

/** Returns the directory of its logs and results. A machine that fails is reported, and the next one starts. */
async function boot(name: string, memory: string, limitSeconds: number, [script = '', ...args]: readonly string[]): Promise<string> {
  const logs = join(out, name);
  rmSync(logs, { recursive: true, force: true });
  process.stderr.write(`${name} …\n`);
  const options = ['--memory', memory, '--time-limit', String(limitSeconds), '--out', logs];
  const machine = spawn('test/vm/boot', [...options, 'bash', `test/lab/guest/${script}`, ...args], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const stop = (signal: NodeJS.Signals): void => {
    machine.kill(signal); // it ends its machine
    process.exit(1);
  };
  for (const signal of INTERRUPTIONS) process.on(signal, stop);
  const [status] = (await once(machine, 'close')) as [number | null];
  for (const signal of INTERRUPTIONS) process.off(signal, stop);
  if (status !== 0) {
    process.stderr.write(`${name}: status ${String(status)}, see ${logs}\n`);
    process.exitCode = 1;
  }
  return logs;
}

function linesOf(name: string): string[] {
  return textOf(join(out, `${name}.lines`))
    .split('\n')
    .filter(Boolean);
}

function textOf(file: string): string {
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}
