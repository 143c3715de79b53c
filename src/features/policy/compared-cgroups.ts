import type { RawValue } from '../../core/policy/raw-value.js';
import type { ScopeReading } from '../../core/policy/scope-reading.js';
import { CgroupValues, type CgroupValuesParts } from './cgroup-values.js';

/** The cgroups that a step of a ladder chooses from. They are read only while a condition holds. */
export class ComparedCgroups {
  readonly #cgroups: CgroupValues;
  readonly #values: ReadonlySet<RawValue>;

  constructor(parts: CgroupValuesParts, values: ReadonlySet<RawValue>) {
    this.#cgroups = new CgroupValues(parts, values);
    this.#values = values;
  }

  read(paths: readonly string[]): readonly ScopeReading[] {
    this.#cgroups.follow(new Map(paths.map((path) => [path, this.#values])));
    return [...this.#cgroups.read().values()];
  }

  close(): void {
    this.#cgroups.close();
  }
}
