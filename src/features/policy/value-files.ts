import { RAW_VALUES, type KernelSource, type RawValue } from '../../core/policy/raw-value.js';
import { fieldCount } from '../../host/linux/sampling/kernel-source.js';
import type { FileSpec } from '../../native/binding.js';

/** The place of values: a cgroup of v1 or v2, or the machine. */
export type ValuePlace = 'v1' | 'v2' | 'node';

/** v1: where a cgroup's other files are, in the order of the directories beside it. On v2 all files are in one. */
export const BESIDE = ['blkio', 'pids', 'unified'] as const;

/** The kernel's files with some raw values, for one pass. */
export interface ValueFiles {
  readonly specs: readonly FileSpec[];
  /** Bits of the files that hold these values. */
  maskOf(values: Iterable<RawValue>): number;
  /** Adds what is known. `fields[first]` and following are the fields of the specs, NaN where unknown. */
  read(fields: Float64Array, first: number, into: Map<RawValue, number>): void;
  /** One of the values; Infinity: `max`. NaN: unknown. */
  one(value: RawValue, fields: Float64Array, first: number): number;
}

interface Located {
  readonly value: RawValue;
  readonly file: number;
  readonly columns: readonly number[];
}

/** Values from this one on are not a limit: `max`, or on v1 the largest number of whole pages. */
const NO_LIMIT = 2 ** 62;

/** @param values  those that have no file in this place, or lines that are weighed, are left out */
export function valueFiles(place: ValuePlace, values: Iterable<RawValue>): ValueFiles {
  const sources = [...new Set(values)].flatMap((value) => {
    const found = sourceOf(place, value);
    return found === undefined || found.source.weighed ? [] : [{ value, ...found }];
  });
  const keysOf = new Map<string, Set<string>>();
  for (const { file, source } of sources) {
    const keys = keysOf.get(file) ?? new Set();
    keysOf.set(file, keys);
    source.keys?.forEach((key) => keys.add(key));
  }
  const files = [...keysOf.keys()];
  const specs = files.map((file) => specOf(file, keysOf.get(file) ?? new Set()));
  const located = sources.map(({ value, file, source: { keys } }): Located => {
    const index = files.indexOf(file);
    const start = specs.slice(0, index).reduce((sum, spec) => sum + fieldCount(spec), 0);
    const spec = specs[index];
    return {
      value,
      file: index,
      columns: keys === undefined || spec === undefined ? [start] : keys.map((key) => start + columnOf(spec, key)),
    };
  });
  return {
    specs,
    maskOf: (wanted) => {
      const all = new Set(wanted);
      return located.reduce((mask, { value, file }) => (all.has(value) ? (mask | (1 << file)) >>> 0 : mask), 0);
    },
    read: (fields, first, into) => {
      for (const { value, columns } of located) {
        const known = knownSum(fields, first, columns);
        if (known < NO_LIMIT) into.set(value, known);
      }
    },
    one: (value, fields, first) => knownSum(fields, first, located.find((one) => one.value === value)?.columns ?? []),
  };
}

/** `file`: with its directory in front, 'pids/pids.current'. */
function sourceOf(place: ValuePlace, value: RawValue): { readonly file: string; readonly source: KernelSource } | undefined {
  const sources = RAW_VALUES[value];
  const own = sources[place];
  if (own !== undefined) return { file: own.controller === undefined ? own.file : `${own.controller}/${own.file}`, source: own };
  // Hybrid: systemd's units have the same path in the unified hierarchy, which measures pressure without a controller.
  const { v2 } = sources;
  return place === 'v1' && v2 !== undefined && isPressure(v2.file) ? { file: `unified/${v2.file}`, source: v2 } : undefined;
}

/** Keys that this kernel does not have count as nothing, unless it has none of them: NaN. */
function knownSum(fields: Float64Array, first: number, columns: readonly number[]): number {
  let sum = NaN;
  for (const column of columns) {
    const field = fields[first + column] ?? NaN;
    if (!Number.isNaN(field)) sum = Number.isNaN(sum) ? field : sum + field;
  }
  return sum;
}

function specOf(file: string, keys: ReadonlySet<string>): FileSpec {
  const [first = '', name] = file.split('/');
  const beside = BESIDE.findIndex((directory) => directory === first);
  const place = beside === -1 || name === undefined ? { path: file } : { path: name, directory: beside + 1 };
  if (isPressure(file)) return { ...place, format: 'pressure' };
  if (keys.size === 0) return { ...place, format: 'number' };
  return { ...place, format: file === 'io.stat' ? 'nested' : 'keyed', keys: [...keys] };
}

function isPressure(file: string): boolean {
  return file.endsWith('.pressure') || file.startsWith('/proc/pressure/');
}

const PRESSURE_FIELDS = ['avg10', 'avg60', 'avg300', 'total'] as const;

/** 'some avg10' → 0, 'full total' → 7. */
function columnOf(spec: FileSpec, key: string): number {
  if ('keys' in spec) return spec.keys.indexOf(key);
  const [kind, number] = key.split(' ');
  return (kind === 'full' ? PRESSURE_FIELDS.length : 0) + PRESSURE_FIELDS.findIndex((field) => field === number);
}
