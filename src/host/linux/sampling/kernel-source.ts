import type { Binding, FileReader, FileSpec } from '../../../native/binding.js';
import { errnoText } from '../../../errors.js';
import type { Missing } from '../../missing-reading.js';

export type { Missing } from '../../missing-reading.js';

/** Kernel files that belong together, and the meaning of their fields. `read` is pure. */
export interface KernelSource<T> {
  readonly files: readonly FileSpec[];
  /** `values`: the fields of all files in order, NaN where unknown. `errors`: an errno per file, or 0. */
  read(values: Float64Array, errors: Int32Array): T;
}

/** The first file that could not be read; undefined: none. */
export function firstError(files: readonly FileSpec[], errors: Int32Array): Missing | undefined {
  const index = errors.findIndex((errno) => errno !== 0);
  const file = files[index];
  return file === undefined ? undefined : { missing: `${file.path}: ${errnoText(errors[index] ?? 0)}` };
}

export function fieldCount(file: FileSpec): number {
  switch (file.format) {
    case 'number':
    case 'loadavg':
    case 'occupied':
      return 1;
    case 'pressure':
      return 8;
    case 'keyed':
    case 'kstat':
    case 'nested':
      return file.keys.length;
  }
}

/** Reads the files of several sources in one pass, with all files kept open. */
export class KernelPass {
  readonly #reader: FileReader;
  readonly #views = new Map<KernelSource<unknown>, { readonly values: Float64Array; readonly errors: Int32Array }>();

  constructor(native: Binding, sources: readonly KernelSource<unknown>[]) {
    this.#reader = new native.FileReader(sources.flatMap((source) => source.files));
    let field = 0;
    let file = 0;
    for (const source of sources) {
      const fields = source.files.reduce((sum, spec) => sum + fieldCount(spec), 0);
      this.#views.set(source, {
        values: this.#reader.values.subarray(field, field + fields),
        errors: this.#reader.errors.subarray(file, file + source.files.length),
      });
      field += fields;
      file += source.files.length;
    }
  }

  /** Opens missing files again. */
  read(): void {
    this.#reader.read();
  }

  /** What the last `read` gave for one of the sources. */
  of<T>(source: KernelSource<T>): T {
    const view = this.#views.get(source);
    if (view === undefined) throw new Error('a source that is not part of this pass');
    return source.read(view.values, view.errors);
  }

  close(): void {
    this.#reader.close();
  }
}
