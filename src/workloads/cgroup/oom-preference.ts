import { statSync } from 'node:fs';
import { attempt } from '../../errors.js';
import type { OomPreference } from '../../core/workload/workload.js';
import type { Binding } from '../../native/binding.js';
import { fsPath } from '../../byte-paths.js';

interface Cgroup {
  readonly id: bigint;
  readonly path: string;
}

/**
 * ManagedOOMPreference of cgroups. Most have none: those are read when first seen and again before an eviction. Others
 * are read in every pass, so that a withdrawn preference takes effect.
 */
export class OomPreferences {
  /** Counts the changes. */
  version = 0;
  readonly #found = new Map<bigint, { readonly path: string; readonly preference: OomPreference }>();

  constructor(private readonly read: (path: string) => OomPreference | undefined) {}

  of({ id }: Cgroup): OomPreference | undefined {
    return this.#found.get(id)?.preference;
  }

  /** Reads one; returns whether it has changed. */
  look({ id, path }: Cgroup): boolean {
    const before = this.#found.get(id)?.preference;
    const preference = this.read(path);
    if (preference === undefined) this.#found.delete(id);
    else this.#found.set(id, { path, preference });
    if (preference !== before) this.version += 1;
    return preference !== before;
  }

  /** Reads those that have a preference. */
  refresh(): void {
    for (const [id, { path }] of this.#found) this.look({ id, path });
  }

  forget({ id }: Cgroup): void {
    if (this.#found.delete(id)) this.version += 1;
  }
}

/** Attributes in order of precedence: with both set a cgroup is never evicted, as in systemd-oomd. */
const PREFERENCES: readonly (readonly [attribute: string, preference: OomPreference])[] = [
  ['user.oomd_omit', 'omit'],
  ['user.oomd_avoid', 'avoid'],
];

export const PREFERENCE_ATTRIBUTES: readonly string[] = PREFERENCES.map(([attribute]) => attribute);

/**
 * Reads the extended attributes that ManagedOOMPreference sets. The `directories` are the same cgroup in several
 * hierarchies; the first with an attribute counts, if its owner may set it. undefined: none, or unreadable.
 *
 * @param mayPrefer  left out: root may, because an owner can set attributes
 */
export function readOomPreference(
  native: Pick<Binding, 'getxattr'>,
  directories: readonly string[],
  mayPrefer: (directory: string) => boolean = (directory) => attempt(() => statSync(fsPath(directory)).uid === 0) ?? false,
): OomPreference | undefined {
  for (const directory of directories) {
    for (const [attribute, preference] of PREFERENCES) {
      if (isSet(native, directory, attribute) && mayPrefer(directory)) return preference;
    }
  }
  return undefined;
}

/** systemd's spelling of booleans. */
function isSet(native: Pick<Binding, 'getxattr'>, directory: string, attribute: string): boolean {
  const value = attempt(() => native.getxattr(directory, attribute));
  return value !== undefined && /^(1|yes|y|true|t|on)$/i.test(value.toString('latin1'));
}
