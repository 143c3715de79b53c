import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { containerScope, type ContainerScope } from '../core/container-scope.js';

/** Of containers that ended long ago. */
const MOST_KNOWN = 4096;

/** Where Docker and Podman, run as root, keep what their containers are called, unless they are configured otherwise. */
const FILES: Readonly<Record<ContainerScope['engine'], (id: string) => readonly string[]>> = {
  docker: (id) => [`/var/lib/docker/containers/${id}/config.v2.json`],
  podman: () => ['containers.json', 'volatile-containers.json'].map((file) => `/var/lib/containers/storage/overlay-containers/${file}`),
};

/** A disk that takes longer hangs. */
const LOOKED_UP_WITHIN_NS = 5_000_000_000n;

interface Known {
  readonly scope: ContainerScope;
  readonly path: string;
  /** undefined: there is none, or it is not known yet. */
  name: string | undefined;
  /** Since when it is looked for the first time; undefined: that is over. */
  sinceNs: bigint | undefined;
}

/**
 * What the containers of Docker and Podman are called, from their own files. Each is looked for once, and nobody waits for it: a name that is not known yet is told of when it is, by
 * {@link found}. To be kept as long as somebody asks: a new one knows nobody.
 */
export class ContainerNames {
  readonly #root: string;
  readonly #waits: boolean;
  /** By id. */
  readonly #known = new Map<string, Known>();
  #asked: Promise<void> = Promise.resolve();
  #found: string[] = [];

  /**
   * @param waits  names are read at once: for whoever looks only once
   * @param root  what the files are below; '': the machine's
   */
  constructor(waits: boolean, root = '') {
    this.#waits = waits;
    this.#root = root;
  }

  /** undefined: it is no container's cgroup, it has no name, or that is not known yet. */
  of(path: string): string | undefined {
    const scope = containerScope(path);
    if (scope === undefined) return undefined;
    const known = this.#known.get(scope.id) ?? this.#begin(scope, path);
    return known.name;
  }

  /** It is being looked up for the first time: `of` may tell in a moment. No more after five seconds. */
  isPending(path: string): boolean {
    const scope = containerScope(path);
    const sinceNs = scope && this.#known.get(scope.id)?.sinceNs;
    return sinceNs !== undefined && process.hrtime.bigint() - sinceNs < LOOKED_UP_WITHIN_NS;
  }

  /** Looks for all of them once more, for they may have been renamed. Until that is known they are called what they were. */
  renew(): void {
    for (const known of this.#known.values()) this.#look(known);
  }

  /** Paths whose names have become known since this was called last. */
  found(): readonly string[] {
    if (this.#found.length === 0) return NONE;
    const found = this.#found;
    this.#found = [];
    return found;
  }

  #begin(scope: ContainerScope, path: string): Known {
    if (this.#known.size >= MOST_KNOWN) this.#known.clear();
    const known: Known = { scope, path, name: undefined, sinceNs: process.hrtime.bigint() };
    this.#known.set(scope.id, known);
    this.#look(known);
    return known;
  }

  /** One file at a time: a disk that hangs takes one thread of the pool. */
  #look(known: Known): void {
    const { scope, path } = known;
    const files = FILES[scope.engine](scope.id).map((file) => this.#root + file);
    if (this.#waits) {
      for (const file of files) learn(known, () => readFileSync(file, 'utf8'));
      known.sinceNs = undefined;
      return;
    }
    this.#asked = this.#asked.then(async () => {
      for (const file of files) {
        const text = await readFile(file, 'utf8').catch(() => '');
        if (learn(known, () => text)) this.#found.push(path);
      }
      known.sinceNs = undefined;
    });
  }
}

/** Tells whether that is news. */
function learn(known: Known, text: () => string): boolean {
  try {
    const name = nameIn(JSON.parse(text()), known.scope);
    if (name === undefined || name === known.name) return false;
    known.name = name;
    return true;
  } catch {
    return false; // not there, or cut off: it goes by the name of its cgroup
  }
}

const NONE: readonly string[] = [];

/** Docker: {"Name": "/web", …}; Podman, of all containers: [{"id": …, "names": ["web"], …}, …]. */
function nameIn(json: unknown, { engine, id }: ContainerScope): string | undefined {
  if (engine === 'docker') {
    const { Name: name } = json as { Name?: unknown };
    return typeof name === 'string' && name.length > 1 ? name.replace(/^\//, '') : undefined;
  }
  if (!Array.isArray(json)) return undefined;
  const own = (json as readonly { id?: unknown; names?: unknown }[]).find((container) => container.id === id);
  const [name] = Array.isArray(own?.names) ? (own.names as readonly unknown[]) : [];
  return typeof name === 'string' && name !== '' ? name : undefined;
}
