import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { native } from '../../src/native/index.js';
import { atLeast, atMost, type Bench, type Benchmark, type Result } from './benchmark.js';
import { Distribution, ratios } from './distribution.js';
import { filesOfWorkload, plantTree, WORKLOADS } from './tree.js';

const ROUNDS = 200;
const WARM_UP = 20;

/** One pass over a hundred cgroups by the native table, and over the same files by Node's fs, turn and turn about. */
export const pass: Benchmark = {
  name: 'pass',
  what: `one pass over ${String(WORKLOADS)} cgroups`,
  run: async (bench: Bench): Promise<Result> => {
    const { workloads } = await plantTree(bench);
    const { usage, stat, statKey } = filesOfWorkload();
    const table = new native.CgroupTable([
      { path: usage, format: 'number' },
      { path: stat, format: 'keyed', keys: [statKey] },
    ]);
    bench.cleanup(() => {
      table.close();
    });
    const rows = workloads.map(({ dir }) => table.add(dir));
    const paths = workloads.flatMap(({ dir }) => [`${dir}/${usage}`, `${dir}/${stat}`]);
    const kept = paths.map((path) => openSync(path, 'r'));
    bench.cleanup(() => {
      kept.forEach(closeSync);
    });
    const buffer = Buffer.alloc(16 * 1024);
    let taken = 0;

    const ways = [
      () => {
        table.read();
      },
      () => {
        for (const { dir } of workloads) {
          taken += Number(readFileSync(`${dir}/${usage}`, 'latin1'));
          taken += valueOf(readFileSync(`${dir}/${stat}`, 'latin1'), statKey);
        }
      },
      () => {
        for (const path of paths) readFileSync(path);
      },
      () => {
        for (const file of kept) readSync(file, buffer, 0, buffer.length, 0);
      },
    ];
    const measured = ways.map((): number[] => []);
    for (let round = -WARM_UP; round < ROUNDS; round += 1) {
      ways.forEach((way, index) => {
        const from = process.hrtime.bigint();
        way();
        if (round >= 0) measured[index]?.push(Number(process.hrtime.bigint() - from) / 1e3 / WORKLOADS);
      });
    }
    if (rows.some((row) => table.errors[row] !== 0)) throw new Error('a cgroup could not be read');
    if (!(taken > 0)) throw new Error('readFileSync has read nothing');
    const [byTable = [], byReadFile = [], byBareReadFile = [], byRead = []] = measured;
    const ratio = ratios(byReadFile, byTable);
    const bareRatio = ratios(byBareReadFile, byTable);
    return {
      figures: [
        { what: 'native table, a cgroup', unit: 'µs', measured: new Distribution(byTable), ...atMost(12) },
        { what: 'fs.readFileSync, to the same numbers, a cgroup', unit: 'µs', measured: new Distribution(byReadFile) },
        { what: 'fs.readFileSync, nothing parsed, a cgroup', unit: 'µs', measured: new Distribution(byBareReadFile) },
        { what: 'fs.readSync on kept descriptors, a cgroup', unit: 'µs', measured: new Distribution(byRead) },
        { what: 'fs.readFileSync, to the same numbers / native table', unit: '×', measured: ratio.ofMedians, ...atLeast(4) },
        { what: '… median of the ratios', unit: '×', measured: ratio.medianOfPairs },
        { what: 'fs.readFileSync, nothing parsed / native table', unit: '×', measured: bareRatio.ofMedians },
      ],
      notes: [`${usage} and ${stat} of each; the table parses what it reads, fs.readSync only reads`],
    };
  },
};

/** As one writes it in JavaScript: the number behind a key of a "key value" file. */
function valueOf(text: string, key: string): number {
  const line = text.indexOf(`\n${key} `) + 1;
  return Number(text.slice(line + key.length + 1, text.indexOf('\n', line)));
}
