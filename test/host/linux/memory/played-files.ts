import { fieldCount, type KernelSource } from '../../../../src/host/linux/sampling/kernel-source.js';

/** By path, then by key. A file that is not named is missing: NaN and ENOENT; a missing key is ENODATA. */
export type PlayedFiles = Readonly<Record<string, number | Readonly<Record<string, number>>>>;

const [ENOENT, ENODATA] = [2, 61];

/** What a source makes of these numbers. */
export function readPlayed<T>(source: KernelSource<T>, files: PlayedFiles): T {
  const read = source.files.map((file) => {
    const given = files[file.path];
    if (given === undefined) return { values: new Array<number>(fieldCount(file)).fill(NaN), error: ENOENT };
    if (typeof given === 'number' || !('keys' in file)) return { values: [given as number], error: 0 };
    const values = file.keys.map((key) => given[key] ?? NaN);
    return { values, error: values.some(Number.isNaN) ? ENODATA : 0 };
  });
  return source.read(Float64Array.from(read.flatMap(({ values }) => values)), Int32Array.from(read.map(({ error }) => error)));
}
