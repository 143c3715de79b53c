// make bench: all benchmarks, or some: make bench ARGS='wake idle --idle-seconds=10'. It fails only if one cannot run.
// A complete run of all writes its table into docs/benchmarks.md.
import { parseArgs } from 'node:util';
import { arming } from './arming.js';
import { isMet, type Benchmark, type Result } from './benchmark.js';
import { candidates } from './candidates.js';
import { check } from './check.js';
import { disk } from './disk.js';
import { eviction } from './eviction.js';
import { history } from './history.js';
import { idle } from './idle.js';
import { kill } from './kill.js';
import { kubernetes } from './kubernetes.js';
import { machine } from './machine.js';
import { pass } from './pass.js';
import { policies } from './policies.js';
import { publish } from './published.js';
import { quantity } from './quantity.js';
import { sampler } from './sampler.js';
import { simulate } from './simulate.js';
import { statfs } from './statfs.js';
import { step } from './step.js';
import { notes, table } from './table.js';
import { Undo } from './undo.js';
import { wake } from './wake.js';

const BENCHMARKS: readonly Benchmark[] = [
  wake,
  eviction,
  kubernetes,
  kill,
  pass,
  check,
  idle,
  candidates,
  policies,
  step,
  quantity,
  arming,
  statfs,
  sampler,
  disk,
  history,
  simulate,
];

const IDLE_SECONDS = '60';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { 'idle-seconds': { type: 'string', default: IDLE_SECONDS } },
});
const unknown = positionals.filter((name) => !BENCHMARKS.some((benchmark) => benchmark.name === name));
if (unknown.length > 0) {
  process.stderr.write(`no benchmark ${unknown.join(', ')}; there are ${BENCHMARKS.map(({ name }) => name).join(', ')}\n`);
  process.exit(64);
}

const undo = new Undo();

const where = machine();
process.stdout.write(`${where}\n\n`);
const results: (readonly [Benchmark, Result])[] = [];
for (const benchmark of BENCHMARKS.filter(({ name }) => positionals.length === 0 || positionals.includes(name))) {
  const from = performance.now();
  process.stderr.write(`${benchmark.name}: ${benchmark.what} …`);
  try {
    const result = await benchmark.run({ idleSeconds: Number(values['idle-seconds']), cleanup: undo.add });
    results.push([benchmark, result]);
    process.stderr.write(` ${((performance.now() - from) / 1e3).toFixed(0)} s\n`);
  } catch (error) {
    process.stderr.write(` could not run: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  } finally {
    await undo.all();
  }
}
const figures = results.flatMap(([, result]) => result.figures).map(isMet);
process.stdout.write(`${table(results)}\n\n${notes(results)}\n\n`);
if (results.length === BENCHMARKS.length && values['idle-seconds'] === IDLE_SECONDS) publish('bench', where, table(results));
process.stdout.write(
  `${String(figures.filter((met) => met === true).length)} targets met, ${String(figures.filter((met) => met === false).length)} not met\n`,
);
