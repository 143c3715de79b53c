import { readFileSync } from 'node:fs';
import { cgroupDirectory, type CgroupHierarchy } from '../core/cgroup.js';
import { unitPlace } from '../core/unit.js';
import type { UnreadableWorkload } from '../core/workload.js';
import { errnoName, errnoText } from '../errors.js';
import type { SourceProblem } from '../monitor/ports.js';
import type { Binding, CgroupHandle, CgroupTable } from '../native/binding.js';
import type { ContainerNames } from './container-names.js';
import { cgroupFiles, limitBytes, type CgroupFiles } from './cgroup-files.js';
import type { RuleEffect } from './rules.js';
import type { OomPreferences } from './oom-preference.js';
import type { Member, Sampled } from './member.js';
import { listedProtection } from './protection.js';
import { inodeOf, type MemberRoot } from './source-root.js';

type EffectOf = (workload: { readonly name: string; readonly path: string }) => RuleEffect;

/** What the members are found and known by. */
export interface MembersParts {
  readonly hierarchy: CgroupHierarchy;
  /** Each once; those that tell of names before the others. */
  readonly roots: readonly MemberRoot[];
  readonly effectOf: EffectOf;
  readonly preferences: OomPreferences;
  readonly containerNames: ContainerNames;
}

/** The members of the sources, with their files kept open. */
export class Members {
  readonly #native: Binding;
  readonly #hierarchy: CgroupHierarchy;
  readonly #roots: readonly MemberRoot[];
  readonly #effectOf: EffectOf;
  readonly #preferences: OomPreferences;
  readonly #containerNames: ContainerNames;
  readonly #files: CgroupFiles;
  readonly #table: CgroupTable;
  /** What the table was read into; longer when it grows. */
  #values = new Float64Array();
  #errors = new Int32Array();
  readonly #members = new Map<string, Member>();
  /** Paths of the roots' own files, which are no cgroups: they are the same at every listing. */
  readonly #controls = new Set<string>();
  /** Those that could not be opened: tried again at every pass. */
  readonly #unopened = new Map<string, Found>();

  constructor(native: Binding, { hierarchy, roots, effectOf, preferences, containerNames }: MembersParts) {
    this.#native = native;
    this.#hierarchy = hierarchy;
    this.#roots = roots;
    this.#effectOf = effectOf;
    this.#preferences = preferences;
    this.#containerNames = containerNames;
    this.#files = cgroupFiles(hierarchy.version);
    this.#table = new native.CgroupTable(this.#files.specs);
    this.watch();
  }

  /** Sources that are not watched, and have come by now, are from here on. */
  watch(): void {
    for (const root of this.#roots) root.watch();
  }

  /** Brings what is known in line with what came and went, without reading anybody. */
  follow(unreadable: UnreadableWorkload[]): void {
    const retried = [...this.#unopened.values()];
    this.#unopened.clear();
    for (const root of this.#roots) {
      const changes = root.changes(() => this.#count(root));
      if (changes === 'unknown') this.#list(root, unreadable);
      else if (changes !== 'none') {
        for (const [below, kind] of changes) this.#lookAgain({ root, below }, kind, unreadable);
      }
    }
    // They are others to the rules now.
    for (const path of this.#containerNames.found()) {
      const known = this.#members.get(path);
      if (known === undefined) continue;
      this.#remove(known);
      this.#add({ root: known.root, below: path.slice(known.root.path === '/' ? 1 : known.root.path.length + 1) }, unreadable);
    }
    for (const found of retried) {
      const path = pathOf(found);
      if (!this.#members.has(path) && !this.#unopened.has(path)) this.#add(found, unreadable);
    }
  }

  /** One pass over all that have processes in them. What could not be opened is added to `unreadable`. */
  read(unreadable: UnreadableWorkload[]): { readonly occupied: readonly Sampled[]; readonly timeNs: bigint } {
    this.follow(unreadable);
    const timeNs = process.hrtime.bigint();
    this.#readTable();
    this.#replaceRemoved(unreadable);
    const occupied: Sampled[] = [];
    for (const member of this.#members.values()) {
      const found = this.#look(member);
      if (found) occupied.push(found);
    }
    return { timeNs, occupied };
  }

  /** Those that the last pass left out: the kernel says that no process lives in them (v2). */
  vacant(): readonly Sampled[] {
    const { columns } = this.#table;
    return [...this.#members.values()]
      .filter(({ row }) => this.#errors[row] !== ENODEV && this.#files.populated(this.#values, row * columns) === false)
      .map((member) => ({ member, sample: this.#files.sample(this.#values, member.row * columns) }));
  }

  /** The pids of the cgroup and all below it; undefined: not known, which is not the same as none. */
  processes({ path, id }: Member): readonly number[] | undefined {
    let handle: CgroupHandle | undefined;
    try {
      handle = new this.#native.CgroupHandle(cgroupDirectory(this.#hierarchy, path), id);
      return handle.processes();
    } catch (error) {
      return GONE.has(errnoName(error) ?? '') ? [] : undefined;
    } finally {
      handle?.close();
    }
  }

  all(): Iterable<Member> {
    return this.#members.values();
  }

  get(path: string): Member | undefined {
    return this.#members.get(path);
  }

  whyUnreadable({ row }: Member): string {
    const errno = this.#errors[row] ?? 0;
    return errno === ENOENT
      ? `it has no ${this.#files.usageFile}: the memory controller is not enabled for it`
      : `${this.#files.usageFile}: ${errnoText(errno)}`;
  }

  /** Sources that the kernel does not tell about. */
  problems(): readonly SourceProblem[] {
    return this.#roots.flatMap((root) => root.problem() ?? []);
  }

  close(): void {
    for (const root of this.#roots) root.close();
    this.#members.clear();
    this.#table.close();
  }

  /** Its name is not its own any more: the next pass looks who has it. */
  forget(member: Member): void {
    if (this.#members.get(member.path) === member) this.#remove(member);
    member.root.forget();
  }

  #count(root: MemberRoot): number {
    if (this.#roots.length === 1) return this.#members.size;
    let count = 0;
    for (const member of this.#members.values()) if (member.root === root) count += 1;
    return count;
  }

  /** One row per member of the root. */
  #list(root: MemberRoot, unreadable: UnreadableWorkload[]): void {
    const listed = new Set<string>();
    for (const below of root.list()) {
      const found = { root, below };
      const path = pathOf(found);
      if (this.#controls.has(path)) continue;
      listed.add(path);
      const known = this.#members.get(path);
      if (known?.root.names === 'directories' && root.names === 'told') this.#remove(known);
      if (!this.#members.has(path)) this.#add(found, unreadable);
    }
    // Removed, or (on v1) renamed: then its row would live on under the old name.
    for (const member of this.#members.values()) {
      if (member.root !== root || listed.has(member.path)) continue;
      this.#remove(member);
      // Where another root has it, too, it is one of that again.
      if (root.names === 'told') for (const other of this.#roots) if (other.names === 'directories') other.relist();
    }
  }

  /** Something happened under this name: whoever has it now is the member. */
  #lookAgain(found: Found, kind: 'appeared' | 'vanished', unreadable: UnreadableWorkload[]): void {
    const known = this.#members.get(pathOf(found));
    if (known && inodeOf(`${found.root.directory}/${found.below}`) === known.id) return;
    if (known) this.#remove(known);
    if (kind === 'appeared') this.#add(found, unreadable); // who has come since it vanished will be told of
  }

  #add(found: Found, unreadable: UnreadableWorkload[]): void {
    const { root, below } = found;
    const path = pathOf(found);
    const name = (root.names === 'told' ? undefined : this.#containerNames.of(path)) ?? root.nameOf(below);
    const directory = `${root.directory}/${below}`;
    let row: number | undefined;
    try {
      row = this.#table.add(directory);
      const id = this.#table.id(row);
      const { unit } = unitPlace(path);
      const effect = this.#effectOf({ name, path });
      const member: Member = {
        ...{ name, path, root, row, id, effect },
        listed: listedProtection({ path, effect }),
        unit: unit?.path === path ? unit : undefined,
        limitBytes: this.#limit(directory),
      };
      this.#members.set(path, member);
      this.#preferences.look(member);
    } catch (error) {
      if (row !== undefined) this.#table.remove(row);
      const errno = errnoName(error);
      if (errno === 'ENOTDIR') {
        this.#controls.add(path);
        return;
      }
      // ENOENT: removed since it was listed, or told of; ESTALE: removed and made again since then. The next pass sees it.
      if (errno !== 'ENOENT' && errno !== 'ESTALE') unreadable.push({ name, path, reason: String(error) });
      if (errno !== 'ENOENT') this.#unopened.set(path, found);
    }
  }

  #limit(directory: string): bigint | undefined {
    try {
      return limitBytes(readFileSync(`${directory}/${this.#files.limitFile}`, 'utf8'));
    } catch {
      return undefined;
    }
  }

  #remove(member: Member): void {
    this.#table.remove(member.row);
    this.#members.delete(member.path);
    this.#preferences.forget(member);
  }

  /** Rows whose cgroup was removed are dropped; what has come since, under their names or others, is a workload of its own. */
  #replaceRemoved(unreadable: UnreadableWorkload[]): void {
    const removed = [...this.#members.values()].filter(({ row }) => this.#errors[row] === ENODEV);
    if (removed.length === 0) return;
    for (const member of removed) this.forget(member);
    const before = new Set(this.#members.values());
    this.follow(unreadable);
    const added = [...this.#members.values()].filter((member) => !before.has(member)).map(({ row }) => row);
    if (added.length > 0) this.#readTable(Uint32Array.from(added));
  }

  /** All rows, or these. */
  #readTable(rows?: Uint32Array): void {
    const { rowCount, columns } = this.#table;
    if (this.#errors.length < rowCount) {
      const [values, errors] = [this.#values, this.#errors];
      this.#values = new Float64Array(2 * rowCount * columns).fill(NaN);
      this.#errors = new Int32Array(2 * rowCount).fill(ENODEV);
      this.#values.set(values);
      this.#errors.set(errors);
    }
    this.#table.read(this.#values, this.#errors, rows);
  }

  /** undefined: removed, or the same pass says that no process lives in it (v2; on v1 that takes a reading of its own). */
  #look(member: Member): Sampled | undefined {
    if (this.#errors[member.row] === ENODEV) return undefined;
    const first = member.row * this.#table.columns;
    if (this.#files.populated(this.#values, first) === false) return undefined;
    return { member, sample: this.#files.sample(this.#values, first) };
  }
}

const ENOENT = 2;
const ENODEV = 19;
/** Removed, or made again under its name: nobody of it is left. */
const GONE: ReadonlySet<string> = new Set(['ENOENT', 'ENODEV', 'ESTALE']);

/** A member by its path below the root: the name of a child. */
interface Found {
  readonly root: MemberRoot;
  readonly below: string;
}

function pathOf({ root, below }: Found): string {
  return root.path === '/' ? `/${below}` : `${root.path}/${below}`;
}
