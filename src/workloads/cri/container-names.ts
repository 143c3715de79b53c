import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { containerScope, type ContainerScope } from '../../core/workload/container-scope.js';

/** Bounds the memory for ended containers. */
const MOST_KNOWN = 4096;

/** The default locations of container names for Docker and Podman as root. */
const FILES: Readonly<Record<ContainerScope['engine'], (id: string) => readonly string[]>> = {
  docker: (id) => [`/var/lib/docker/containers/${id}/config.v2.json`],
  podman: () => ['containers.json', 'volatile-containers.json'].map((file) => `/var/lib/containers/storage/overlay-containers/${file}`),
};

/** A slower disk hangs. */
const LOOKED_UP_WITHIN_NS = 5_000_000_000n;

interface Known {
  readonly scope: ContainerScope;
  readonly path: string;
  /** undefined: none, or unknown yet. */
  name: string | undefined;
  /** The start of the first lookup; undefined: it is over. */
  sinceNs: bigint | undefined;
}

/**
 * Names of Docker and Podman containers, from their own files. Each is looked up once in the background; {@link found}
 * reports names that became known. Keep one instance: a new one knows nothing.
 */
export class ContainerNames {
  readonly #root: string;
  readonly #waits: boolean;
  /** By container id. */
  readonly #known = new Map<string, Known>();
  #lastRequest: Promise<void> = Promise.resolve();
  #found: string[] = [];

  /**
   * @param waits  reads names synchronously, for a single look
   * @param root  prefix of the files; '': the machine's
   */
  constructor(waits: boolean, root = '') {
    this.#waits = waits;
    this.#root = root;
  }

  /** undefined: not a container, no name, or unknown yet. */
  of(path: string): string | undefined {
    const scope = containerScope(path);
    if (scope === undefined) return undefined;
    const known = this.#known.get(scope.id) ?? this.#begin(scope, path);
    return known.name;
  }

  /** Whether the first lookup runs, for at most five seconds. */
  isPending(path: string): boolean {
    const scope = containerScope(path);
    const sinceNs = scope && this.#known.get(scope.id)?.sinceNs;
    return sinceNs !== undefined && process.hrtime.bigint() - sinceNs < LOOKED_UP_WITHIN_NS;
  }

  /** Looks all names up again: containers may have been renamed. */
  renew(): void {
    for (const known of this.#known.values()) this.#look(known);
  }

  /** Paths whose names became known since the last call. */
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

  /** One file at a time: a hanging disk then blocks only one thread of the pool. */
  #look(known: Known): void {
    const { scope, path } = known;
    const files = FILES[scope.engine](scope.id).map((file) => this.#root + file);
    if (this.#waits) {
      for (const file of files) learn(known, () => readFileSync(file, 'utf8'));
      known.sinceNs = undefined;
      return;
    }
    this.#lastRequest = this.#lastRequest.then(async () => {
      for (const file of files) {
        const text = await readFile(file, 'utf8').catch(() => '');
        if (learn(known, () => text)) this.#found.push(path);
      }
      known.sinceNs = undefined;
    });
  }
}

/** Returns whether the name is new. */
function learn(known: Known, text: () => string): boolean {
  try {
    const name = nameIn(JSON.parse(text()), known.scope);
    if (name === undefined || name === known.name) return false;
    known.name = name;
    return true;
  } catch {
    return false; // missing or incomplete: the cgroup's name is used
  }
}

const NONE: readonly string[] = [];

/** Docker: {"Name": "/web", …}; Podman, all containers: [{"id": …, "names": ["web"], …}, …]. */
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
