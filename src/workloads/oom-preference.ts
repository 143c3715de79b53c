import { statSync } from 'node:fs';
import type { OomPreference } from '../core/workload.js';
import type { Binding } from '../native/binding.js';

interface Cgroup {
  readonly id: bigint;
  readonly path: string;
}

/**
 * What cgroups ask for. Of most nothing: those are read when they are first seen, and the one that would go once more. Who asked for something is read at
 * every pass, so that who has taken it back is a candidate like others.
 */
export class OomPreferences {
  readonly #read: (path: string) => OomPreference | undefined;
  readonly #found = new Map<bigint, { readonly path: string; readonly preference: OomPreference }>();

  constructor(read: (path: string) => OomPreference | undefined) {
    this.#read = read;
  }

  of({ id }: Cgroup): OomPreference | undefined {
    return this.#found.get(id)?.preference;
  }

  /** Reads one anew; tells whether it is not what it was. */
  look({ id, path }: Cgroup): boolean {
    const before = this.#found.get(id)?.preference;
    const preference = this.#read(path);
    if (preference === undefined) this.#found.delete(id);
    else this.#found.set(id, { path, preference });
    return preference !== before;
  }

  /** Reads those anew that asked for something. */
  refresh(): void {
    for (const [id, { path }] of this.#found) this.look({ id, path });
  }

  forget({ id }: Cgroup): void {
    this.#found.delete(id);
  }
}

/** In the order in which they win: both set means never, as for systemd-oomd. */
const ATTRIBUTES: readonly (readonly [attribute: string, preference: OomPreference])[] = [
  ['user.oomd_omit', 'omit'],
  ['user.oomd_avoid', 'avoid'],
];

/**
 * What the extended attributes of a cgroup ask for (ManagedOOMPreference of systemd sets them): on the first of `directories`, which are the same cgroup in
 * several hierarchies, that has one. Only root's word counts: whoever owns the directory may set them. undefined: nothing, or it cannot be read.
 */
export function readOomPreference(native: Pick<Binding, 'getxattr'>, directories: readonly string[]): OomPreference | undefined {
  for (const directory of directories) {
    for (const [attribute, preference] of ATTRIBUTES) {
      if (isSet(native, directory, attribute) && isRoots(directory)) return preference;
    }
  }
  return undefined;
}

/** systemd's booleans. */
function isSet(native: Pick<Binding, 'getxattr'>, directory: string, attribute: string): boolean {
  try {
    const value = native.getxattr(directory, attribute);
    return value !== undefined && /^(1|yes|y|true|t|on)$/i.test(value.toString('latin1'));
  } catch {
    return false;
  }
}

function isRoots(directory: string): boolean {
  try {
    return statSync(directory).uid === 0;
  } catch {
    return false;
  }
}
