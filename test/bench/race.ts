// make bench-race: a process fills the memory of a node; which is first, evictd or the OOM killer of the kernel? A run
// of all contenders writes its table into docs/benchmarks.md. ARGS='threshold sampler' runs some: threshold, sampler,
// poller.
import { parseArgs } from 'node:util';
import { memoryController } from '../support/cgroup.js';
import { Arena, MiB, type Fill } from './arena.js';
import type { Bench } from './benchmark.js';
import { evictd, poller, type Contender } from './contender.js';
import { Distribution } from './distribution.js';
import { machine } from './machine.js';
import { publish } from './published.js';
import { digits, markdown } from './table.js';
import { Undo } from './undo.js';

const FILLS: readonly Fill[] = [
  ...[50, 200, 1000].map((rate): Fill => ({ name: `${String(rate)} MB/s`, pages: 'small', bytesPerSecond: rate * 1e6 })),
  { name: 'unthrottled, 4 KiB pages', pages: 'small', bytesPerSecond: 0 },
  { name: 'unthrottled, huge pages', pages: 'huge', bytesPerSecond: 0 },
];

const TITLES = ['contender', 'fills at', 'rounds', 'won', 'signal', 'p90', 'max', 'MiB left', 'least', 'lost', 'target', ''];

/** By name, in this order. */
const CONTENDERS: Readonly<Record<string, ((bench: Pick<Bench, 'cleanup'>, arena: Arena) => Promise<Contender>)[]>> = {
  threshold: [(bench, arena) => evictd(bench, arena, 'memcg_threshold')],
  sampler: [(bench, arena) => evictd(bench, arena, 'sampler')],
  poller: [100, 1000].map((ms) => (bench, arena) => poller(bench, arena, ms)),
};

interface Round {
  readonly won: boolean;
  readonly signalMs: number | undefined;
  readonly leastAvailable: bigint | undefined;
  readonly filledBytesPerSecond: number;
  readonly bystandersKilled: number;
}

const { values, positionals } = parseArgs({ allowPositionals: true, options: { rounds: { type: 'string', default: '10' } } });
const names =
  positionals.length > 0
    ? positionals
    : Object.keys(CONTENDERS).filter((name) => name !== 'threshold' || memoryController()?.version === 1);
const rounds = Number(values.rounds);
/** Fewer rounds cannot tell a winner of nine in ten. */
const PUBLISHED_ROUNDS = 50;
if (!(rounds >= 1) || names.some((name) => !(name in CONTENDERS))) {
  process.stderr.write(`rounds: a number from 1; contenders: ${Object.keys(CONTENDERS).join(', ')}\n`);
  process.exit(64);
}

const where = machine();
process.stdout.write(`${where}\n\n`);
const undo = new Undo();
const rows: string[][] = [];
const notes: string[] = [];
try {
  for (const [index, open] of names.flatMap((name) => CONTENDERS[name] ?? []).entries()) {
    try {
      const arena = new Arena({ cleanup: undo.add });
      await arena.populate();
      if (index === 0) notes.push(...(await measuredFills(arena)));
      const contender = await open({ cleanup: undo.add }, arena);
      for (const fill of FILLS.filter(({ name }) => contender.fills?.includes(name) ?? true)) {
        process.stderr.write(`${contender.name}: ${fill.name} …`);
        const from = performance.now();
        const results: Round[] = [];
        for (let round = 0; round < rounds; round += 1) results.push(await race(arena, contender, fill));
        rows.push(row(contender, fill, results));
        process.stderr.write(
          ` ${String(results.filter(({ won }) => won).length)} of ${String(rounds)}, ${((performance.now() - from) / 1e3).toFixed(0)} s\n`,
        );
      }
      if (contender.note) notes.push(contender.note());
    } finally {
      await undo.all();
    }
  }
} catch (error) {
  process.stderr.write(` could not run: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
const text = `${markdown(TITLES, rows, (column) => column >= 2 && column <= 9)}\n\n${notes.map((note) => `- ${note}`).join('\n')}`;
process.stdout.write(`${text}\n`);
if (process.exitCode === undefined && positionals.length === 0 && rounds >= PUBLISHED_ROUNDS) publish('bench-race', where, text);

/** A note for each fill: its real rate far from the threshold. */
async function measuredFills(arena: Arena): Promise<string[]> {
  const said: string[] = [];
  for (const fill of FILLS) {
    const { bytesPerSecond, hugeShare } = await arena.probe(fill);
    const measured = `${(bytesPerSecond / 1e6).toFixed(0)} MB/s, ${(hugeShare * 100).toFixed(0)} % of it huge pages`;
    said.push(`64 MiB far from the threshold, with ${fill.name}: ${measured}`);
  }
  return said;
}

async function race(arena: Arena, contender: Contender, fill: Fill): Promise<Round> {
  await arena.populate();
  const filler = await arena.filler(fill);
  await contender.rest();
  const before = arena.kernelKills;
  filler.go();
  await filler.process.ended;
  const won = arena.kernelKills === before;
  const { filledBytesPerSecond } = arena;
  const { spansMs } = won ? await contender.result() : {};
  const leastAvailable = arena.leastAvailable;
  return { won, signalMs: spansMs?.crossingToSignal, leastAvailable, filledBytesPerSecond, bystandersKilled: await arena.populate() };
}

function row(contender: Contender, fill: Fill, results: readonly Round[]): string[] {
  const won = results.filter((result) => result.won).length;
  const signals = results.flatMap(({ signalMs }) => signalMs ?? []);
  const signal = signals.length > 0 ? new Distribution(signals) : undefined;
  const left = results.flatMap(({ leastAvailable }) => (leastAvailable === undefined ? [] : Number(leastAvailable / MiB)));
  const times = [0.5, 0.9, 1].map((share) => (signal ? `${digits(signal.quantile(share))} ms` : ''));
  const mib = left.length > 0 ? [new Distribution(left).median.toFixed(0), String(Math.min(...left))] : ['', ''];
  const killed = results.reduce((sum, { bystandersKilled }) => sum + bystandersKilled, 0);
  const needed = Math.ceil(rounds * (fill.bytesPerSecond === 0 ? 0.9 : 1));
  const target = contender.fills === undefined ? [`≥ ${String(needed)}`, won >= needed ? 'met' : 'NOT MET'] : ['', ''];
  return [contender.name, filledAt(fill, results), String(rounds), String(won), ...times, ...mib, String(killed), ...target];
}

/** Marks a row whose median rate is below 95 % of the intended one. */
function filledAt({ name, bytesPerSecond }: Fill, results: readonly Round[]): string {
  const rate = new Distribution(results.map((result) => result.filledBytesPerSecond)).median;
  return rate < 0.95 * bytesPerSecond ? `${name} (in fact ${(rate / 1e6).toFixed(0)})` : name;
}
