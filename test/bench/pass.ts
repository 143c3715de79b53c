import { closeSync, mkdirSync, openSync, readFileSync, readSync, rmdirSync } from 'node:fs';
import { native, type FileSpec } from '../../src/native/index.js';
import { memoryController } from '../support/cgroup.js';
import { atLeast, atMost, type Bench, type Benchmark, type Figure, type Result } from './benchmark.js';
import { Distribution, ratios } from './distribution.js';
import { allFilesOfWorkload, filesOfWorkload, plantTree, WORKLOADS } from './tree.js';

const ROUNDS = 200;
const WARM_UP = 20;
const MANY = 10_000;
const PIDS = '/sys/fs/cgroup/pids';

/**
 * One pass over a hundred cgroups by the native table, and over the same files by fs of Node, alternately: first the
 * files that a decision needs, then all.
 */
export const pass: Benchmark = {
  name: 'pass',
  what: `one pass over ${String(WORKLOADS)} cgroups`,
  run: async (bench: Bench): Promise<Result> => {
    const { workloads } = await plantTree(bench);
    const directories = workloads.map(({ dir }) => dir);
    const { usage, stat, statKey } = filesOfWorkload();
    const decisive: FileSpec[] = [
      { path: usage, format: 'number' },
      { path: stat, format: 'keyed', keys: [statKey] },
    ];
    const all = allFilesOfWorkload();
    const beside = plantBeside(bench, directories);
    const table = openTable(bench, decisive, directories);
    const full = openTable(bench, all, directories, { beside });
    const beyond = openTable(bench, all, directories, { beside, maxOpenFiles: 0 });
    const open = (paths: readonly string[]): number[] => {
      const files = paths.map((path) => openSync(path, 'r'));
      bench.cleanup(() => {
        files.forEach(closeSync);
      });
      return files;
    };
    const paths = directories.flatMap((dir) => [`${dir}/${usage}`, `${dir}/${stat}`]);
    const allPaths = directories.flatMap((dir, index) =>
      all.map(({ path, directory }) => `${directory === undefined ? dir : (beside[index] ?? '')}/${path}`),
    );
    const [kept, allKept] = [open(paths), open(allPaths)];
    const buffer = Buffer.alloc(16 * 1024);
    let taken = 0;
    const readAll = (files: readonly number[]): void => {
      for (const file of files) readSync(file, buffer, 0, buffer.length, 0);
    };

    const [byTable, byUsage, byFull, byBeyond, byReadFile, byBareReadFile, byAllReadFile, byAllBareReadFile, byRead, byAllRead] = measure([
      table,
      () => full(1),
      full,
      beyond,
      () => {
        for (const dir of directories) {
          taken += Number(readFileSync(`${dir}/${usage}`, 'latin1'));
          taken += valueOf(readFileSync(`${dir}/${stat}`, 'latin1'), statKey);
        }
      },
      () => {
        for (const path of paths) readFileSync(path);
      },
      () => {
        allPaths.forEach((path, index) => {
          const spec = all[index % all.length];
          if (spec) taken += numbersOf(readFileSync(path, 'latin1'), spec);
        });
      },
      () => {
        for (const path of allPaths) readFileSync(path);
      },
      () => readAll(kept),
      () => readAll(allKept),
    ] as const);
    if (!(taken > 0)) throw new Error('readFileSync has read nothing');
    const ratio = ratios(byReadFile, byTable);
    const allRatio = ratios(byAllReadFile, byFull);
    const figure = (what: string, measured: readonly number[], limit?: number): Figure => {
      return { what, unit: 'µs', measured: new Distribution(measured), ...(limit !== undefined && atMost(limit)) };
    };
    const [many, manyUsage] = tenThousand(bench, workloads[0]?.dir ?? '', all);
    return {
      figures: [
        figure('native table, what a decision needs, a cgroup', byTable, 12),
        figure('native table, all there is to know, a cgroup', byFull, 12),
        figure('native table, all, nothing kept open, a cgroup', byBeyond, 60),
        figure('native table, usage only, a cgroup', byUsage, 1.5),
        figure('fs.readFileSync, parsed, a cgroup', byReadFile),
        figure('fs.readFileSync, not parsed, a cgroup', byBareReadFile),
        figure('fs.readFileSync, all, parsed, a cgroup', byAllReadFile),
        figure('fs.readFileSync, all, not parsed, a cgroup', byAllBareReadFile),
        figure('fs.readSync on kept descriptors, a cgroup', byRead),
        figure('fs.readSync on kept descriptors, all, a cgroup', byAllRead),
        { what: 'fs.readFileSync, parsed / native table', unit: '×', measured: ratio.ofMedians, ...atLeast(4) },
        { what: '… median of the ratios', unit: '×', measured: ratio.medianOfPairs },
        { what: 'fs.readFileSync, not parsed / native table', unit: '×', measured: ratios(byBareReadFile, byTable).ofMedians },
        { what: 'fs.readFileSync, all, parsed / native table', unit: '×', measured: allRatio.ofMedians, ...atLeast(4) },
        { what: '… median of the ratios', unit: '×', measured: allRatio.medianOfPairs },
        { what: 'fs.readFileSync, all, not parsed / native table', unit: '×', measured: ratios(byAllBareReadFile, byFull).ofMedians },
        { what: 'fs.readSync, not parsed / native table', unit: '×', measured: ratios(byRead, byTable).ofMedians },
        { what: 'fs.readSync, all, not parsed / native table', unit: '×', measured: ratios(byAllRead, byFull).ofMedians },
        figure(`native table, all, ${String(MANY)} cgroups, a cgroup`, many),
        figure(`native table, usage only, ${String(MANY)} cgroups, a cgroup`, manyUsage),
      ],
      notes: [
        `for a decision ${usage} and ${stat}, all: ${all.map(({ path }) => path).join(', ')}; the table parses what it reads, fs.readSync only reads`,
        `${String(MANY)} cgroups with the default bound on kept descriptors, half of ${String(descriptorLimit())}`,
      ],
    };
  },
};

/** Alternately, µs a workload. */
function measure<Ways extends readonly (() => void)[]>(ways: Ways): { [way in keyof Ways]: number[] } {
  const measured = ways.map((): number[] => []);
  for (let round = -WARM_UP; round < ROUNDS; round += 1) {
    ways.forEach((way, index) => {
      const from = process.hrtime.bigint();
      way();
      if (round >= 0) measured[index]?.push(Number(process.hrtime.bigint() - from) / 1e3 / WORKLOADS);
    });
  }
  return measured as { [way in keyof Ways]: number[] };
}

interface TableOptions {
  readonly beside?: readonly string[];
  readonly maxOpenFiles?: number;
}

/** A pass over these cgroups. */
function openTable(
  bench: Bench,
  files: readonly FileSpec[],
  directories: readonly string[],
  options: TableOptions = {},
): (mask?: number) => void {
  const { beside, maxOpenFiles } = options;
  const table = new native.CgroupTable(files, maxOpenFiles === undefined ? undefined : { maxOpenFiles });
  bench.cleanup(() => {
    table.close();
  });
  directories.forEach((dir, index) => table.add(dir, beside && [beside[index] ?? '/none']));
  const [values, errors] = [new Float64Array(table.rowCount * table.columns), new Int32Array(table.rowCount)];
  return (mask) => {
    table.read(values, errors, undefined, mask);
    if (errors.some((error) => error !== 0)) throw new Error('a cgroup could not be read');
  };
}

/** The same cgroups in the pids hierarchy, if that is separate. */
function plantBeside(bench: Bench, directories: readonly string[]): readonly string[] {
  if (memoryController()?.version !== 1) return directories;
  const root = `${PIDS}/evictd-bench-${String(process.pid)}`;
  mkdirSync(root);
  const beside = directories.map((_, index) => `${root}/${String(index)}`);
  for (const directory of beside) mkdirSync(directory);
  bench.cleanup(() => {
    for (const directory of [...beside, root]) rmdirSync(directory);
  });
  return beside;
}

/** Empty cgroups: this measures the table at that size. */
function tenThousand(bench: Bench, directory: string, files: readonly FileSpec[]): readonly [number[], number[]] {
  const children = Array.from({ length: MANY }, (_, index) => `${directory}/${String(index)}`);
  for (const child of children) mkdirSync(child);
  bench.cleanup(() => {
    for (const child of children) rmdirSync(child);
  });
  const read = openTable(
    bench,
    files.filter((file) => file.directory === undefined),
    children,
  );
  const measured: [number[], number[]] = [[], []];
  for (let round = 0; round < 5; round += 1) {
    [undefined, 1].forEach((mask, index) => {
      const from = process.hrtime.bigint();
      read(mask);
      if (round > 0) measured[index]?.push(Number(process.hrtime.bigint() - from) / 1e3 / MANY);
    });
  }
  return measured;
}

function descriptorLimit(): number {
  return Number(/^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]);
}

/** Values as the table parses them; their sum, so that they are used. */
function numbersOf(text: string, spec: FileSpec): number {
  switch (spec.format) {
    case 'number':
      return Number(text);
    case 'keyed':
      return spec.keys.reduce((sum, key) => sum + valueOf(text, key), 0);
    case 'occupied':
      return text.length > 0 ? 1 : 0;
    default:
      throw new Error(`no file of these has the format ${spec.format}`);
  }
}

/** The number after a key of a "key value" file, in plain JavaScript. */
function valueOf(text: string, key: string): number {
  const line = text.indexOf(`\n${key} `) + 1;
  return Number(text.slice(line + key.length + 1, text.indexOf('\n', line)));
}
