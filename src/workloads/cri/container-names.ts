import { closeSync, constants, existsSync, fstatSync, opendirSync, openSync, readFileSync, readSync, type Stats } from 'node:fs';
import * as later from 'node:fs/promises';
import { containerScope, type ContainerEngine, type ContainerScope } from '../../core/workload/container-scope.js';
import type { SourceProblem } from '../../monitor/ports/ports.js';
import { lookUpName, type NameFound, type Want } from './container-lookup.js';

/** What is known of: containers of root's runtimes, of one user, and users. The oldest goes. */
const MAX_KNOWN = 4096;
const MAX_OF_USER = 128;
const MAX_USERS = 32;
/** How many names are looked for again at one tick, of root's containers and of users'. */
const MAX_AGAIN = 32;
/** A slower disk hangs. */
const LOOKED_UP_WITHIN_NS = 5_000_000_000n;
/** A name that was not found is looked for again. */
const AGAIN_AFTER_NS = 30_000_000_000n;

interface Known {
  readonly scope: ContainerScope;
  readonly path: string;
  /** The user whose runtime it is; 0: the machine's runtime. */
  readonly uid: number;
  /** undefined: none, or unknown. */
  name: string | undefined;
  /** undefined: the lookup has found the name, or that there is none. */
  lookedFor: readonly string[] | undefined;
  /** The start of the first lookup; undefined: it is over. */
  sinceNs: bigint | undefined;
  /** The start of the last lookup. */
  lastNs: bigint;
  isLooking: boolean;
}

/**
 * Names of containers, from the files of the runtime that owns the cgroup: root's, or that of the user
 * who named the cgroup. They are looked up in the background; {@link found} reports names that became known. Keep one
 * instance: a new one knows nothing.
 */
export class ContainerNames {
  readonly #known = new Map<string, Known>();
  /** Paths by user, the oldest first: a user gives any number of cgroups the names of containers, and pushes out no other's. */
  readonly #ofUsers = new Map<number, Set<string>>();
  /** Root's files and those of users apart, so that a user's files delay no other name. */
  readonly #lastRequest = { root: Promise.resolve(), users: Promise.resolve() };
  #found: string[] = [];

  /**
   * @param waits  reads names synchronously, for a single look
   * @param root  prefix of the files; '': the machine's
   */
  constructor(
    private readonly waits: boolean,
    private readonly root = '',
  ) {}

  /**
   * undefined: not a container, no name, or unknown yet.
   *
   * @param namer  the user who chose the name of the cgroup; undefined: not one user
   */
  of(path: string, namer: () => number | undefined): string | undefined {
    const scope = containerScope(path);
    if (scope === undefined) return undefined;
    const [known, uid] = [this.#known.get(path), namer()];
    return (known !== undefined && known.uid === uid ? known : this.#begin(scope, path, uid))?.name;
  }

  /**
   * Why rules that match by name cannot be applied to a container: its first lookup runs, for at most five seconds, or
   * its name was not found. undefined: they can.
   */
  missing(path: string): 'pending' | 'lost' | undefined {
    const known = this.#known.get(path);
    if (known === undefined || known.name !== undefined || known.lookedFor === undefined) return undefined;
    return known.sinceNs !== undefined && process.hrtime.bigint() - known.sinceNs < LOOKED_UP_WITHIN_NS ? 'pending' : 'lost';
  }

  /** Looks all names up again: containers may have been renamed. */
  renew(): void {
    for (const known of this.#known.values()) this.#look(known);
  }

  /** Looks names up again that were not found, those first that have waited the longest. */
  retry(isPresent: (path: string) => boolean): void {
    const nowNs = process.hrtime.bigint();
    const due = [...this.#known.values()]
      .filter(({ path, lastNs }) => nowNs - lastNs >= AGAIN_AFTER_NS && this.missing(path) === 'lost' && isPresent(path))
      .sort((a, b) => Number(a.lastNs - b.lastNs));
    for (const isRoot of [true, false]) {
      for (const known of due.filter(({ uid }) => (uid === 0) === isRoot).slice(0, MAX_AGAIN)) this.#look(known);
    }
  }

  /** Resolves when the names of root's containers that were asked for until now have been looked up. */
  async settled(): Promise<void> {
    await this.#lastRequest.root;
  }

  /** Paths whose names became known since the last call. */
  found(): readonly string[] {
    if (this.#found.length === 0) return NONE;
    const found = this.#found;
    this.#found = [];
    return found;
  }

  /** One for each kind of runtime with containers whose names were not found. */
  problems(isPresent: (path: string) => boolean): readonly SourceProblem[] {
    const lost = [...this.#known.values()].filter(({ path }) => this.missing(path) === 'lost' && isPresent(path));
    return (Object.keys(HINTS) as ContainerEngine[]).flatMap((engine): SourceProblem[] => {
      const [first, ...others] = lost.filter(({ scope }) => scope.engines[0] === engine);
      if (first === undefined) return [];
      const more = others.length === 0 ? '' : ` and of ${String(others.length)} more`;
      const files = first.lookedFor?.length ? first.lookedFor.join(', ') : 'no file: a filesystem does not answer';
      const message = `the name of container ${first.path}${more} cannot be found, and rules match by name: not evicted (looked for ${files})`;
      return [{ code: 'EVICTD_CONTAINER_NAME', message, hint: HINTS[engine] }];
    });
  }

  #begin(scope: ContainerScope, path: string, uid: number | undefined): Known | undefined {
    this.#forget(path);
    if (uid === undefined) return undefined;
    this.#makeRoom(uid);
    const nowNs = process.hrtime.bigint();
    const known: Known = { scope, path, uid, name: undefined, lookedFor: NONE, sinceNs: nowNs, lastNs: nowNs, isLooking: false };
    this.#known.set(path, known);
    this.#ofUsers.get(uid)?.add(path);
    this.#look(known);
    return known;
  }

  #forget(path: string): void {
    const known = this.#known.get(path);
    if (known === undefined) return;
    this.#known.delete(path);
    this.#ofUsers.get(known.uid)?.delete(path);
  }

  /** For one more container of a user. */
  #makeRoom(uid: number): void {
    const own = this.#ofUsers.get(uid) ?? new Set();
    const [oldest] = own;
    if (oldest !== undefined && own.size >= (uid === 0 ? MAX_KNOWN : MAX_OF_USER)) this.#forget(oldest);
    const others = [...this.#ofUsers].filter(([user]) => user !== 0 && user !== uid);
    const [first] = others;
    if (uid !== 0 && first !== undefined && others.length >= MAX_USERS) {
      for (const path of [...first[1]]) this.#forget(path);
      this.#ofUsers.delete(first[0]);
    }
    this.#ofUsers.set(uid, own);
  }

  /** One file at a time: a hanging disk then blocks only one thread of the pool. */
  #look(known: Known): void {
    if (known.isLooking) return;
    known.isLooking = true;
    known.lastNs = process.hrtime.bigint();
    const lookup = lookUpName(known.scope, known.uid);
    if (this.waits) {
      let step = lookup.next();
      while (step.done !== true) step = lookup.next(answerNow(this.#at(step.value)));
      learn(known, step.value);
      return;
    }
    const queue = known.uid === 0 ? 'root' : 'users';
    this.#lastRequest[queue] = this.#lastRequest[queue].then(async () => {
      if (this.#known.get(known.path) !== known) return; // pushed out
      let step = lookup.next();
      while (step.done !== true) step = lookup.next(await answer(this.#at(step.value)));
      if (learn(known, step.value) && this.#known.get(known.path) === known) this.#found.push(known.path);
    });
  }

  #at(want: Want): Want {
    return { ...want, path: this.root + want.path };
  }
}

const RUNTIME = 'match these containers by path, or have evictd where the files of their runtime are';
const HINTS: Readonly<Record<ContainerEngine, string>> = {
  docker: 'set data-root in /etc/docker/daemon.json to the directory that dockerd uses, or match these containers by path',
  podman: 'set graphroot in /etc/containers/storage.conf to the directory that podman uses, or match these containers by path',
  nerdctl: RUNTIME,
  containerd: `add a cri source for their runtime; or ${RUNTIME}`,
  'cri-o': `add a cri source for their runtime; or ${RUNTIME}`,
};

const NONE: readonly string[] = [];

/** Returns whether the name is new. */
function learn(known: Known, found: NameFound): boolean {
  known.sinceNs = undefined;
  known.isLooking = false;
  known.lookedFor = 'lookedFor' in found ? found.lookedFor : undefined;
  if (!('name' in found) || found.name === known.name) return false;
  known.name = found.name;
  return true;
}

/** A user may have put a link or a named pipe there. */
const OPEN_USERS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** The bytes to read; undefined: the file does not count. Not more, whatever the file yields: a user may have made its filesystem. */
function bytesOf(stats: Stats, { owners, limit }: OfUser): Buffer | undefined {
  return stats.isFile() && owners.includes(stats.uid) && stats.size <= limit ? Buffer.alloc(stats.size) : undefined;
}

type OfUser = NonNullable<Want['ofUser']>;

function answerNow({ kind, path, ofUser }: Want): string | undefined {
  try {
    if (kind === 'presence') return existsSync(path) ? '' : undefined;
    if (kind === 'directory') return namesNow(path, ofUser?.limit);
    if (ofUser === undefined) return readFileSync(path, 'utf8');
    const file = openSync(path, OPEN_USERS);
    try {
      const bytes = bytesOf(fstatSync(file), ofUser);
      return bytes?.toString('utf8', 0, readSync(file, bytes));
    } finally {
      closeSync(file);
    }
  } catch {
    return undefined; // missing, or not readable
  }
}

async function answer({ kind, path, ofUser }: Want): Promise<string | undefined> {
  try {
    if (kind === 'presence') return await later.access(path).then(() => '');
    if (kind === 'directory') return await names(path, ofUser?.limit);
    if (ofUser === undefined) return await later.readFile(path, 'utf8');
    const file = await later.open(path, OPEN_USERS);
    try {
      const bytes = bytesOf(await file.stat(), ofUser);
      return bytes?.toString('utf8', 0, (await file.read(bytes)).bytesRead);
    } finally {
      await file.close();
    }
  } catch {
    return undefined; // missing, or not readable
  }
}

function namesNow(path: string, limit = Infinity): string {
  const found: string[] = [];
  const directory = opendirSync(path);
  try {
    for (let entry = directory.readSync(); entry !== null && found.length < limit; entry = directory.readSync()) found.push(entry.name);
  } finally {
    directory.closeSync();
  }
  return found.sort().join('\n');
}

async function names(path: string, limit = Infinity): Promise<string> {
  const found: string[] = [];
  for await (const { name } of await later.opendir(path)) {
    found.push(name);
    if (found.length >= limit) break;
  }
  return found.sort().join('\n');
}
