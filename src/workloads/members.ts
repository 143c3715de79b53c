import { readFileSync } from 'node:fs';
import { cgroupDirectory, type CgroupHierarchy } from '../core/cgroup.js';
import type { UnreadableWorkload } from '../core/workload.js';
import { errnoName, errnoText } from '../errors.js';
import type { SourceProblem } from '../monitor/ports.js';
import type { Binding, CgroupHandle, CgroupTable } from '../native/binding.js';
import { cgroupFiles, limitBytes, type CgroupFiles, type CgroupSample } from './cgroup-files.js';
import type { RuleEffect } from './rules.js';
import { inodeOf, namesIn, SourceRoot } from './source-root.js';

/** A child of a source. */
export interface Member {
  readonly name: string;
  readonly path: string;
  /** Its parent. */
  readonly root: SourceRoot;
  readonly row: number;
  readonly id: bigint;
  readonly effect: RuleEffect;
  /** Of its memory, as of when it was listed; undefined: it has none, or it cannot be read. */
  readonly limitBytes: bigint | undefined;
}

/** A member as read in one pass. */
export interface Sampled {
  readonly member: Member;
  readonly sample: CgroupSample | undefined;
}

type EffectOf = (workload: { readonly name: string; readonly path: string }) => RuleEffect;

/** The children of the sources, with their files kept open. */
export class Members {
  readonly #native: Binding;
  readonly #hierarchy: CgroupHierarchy;
  readonly #roots: readonly SourceRoot[];
  readonly #effectOf: EffectOf;
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

  /**
   * @param roots  paths of cgroups, each once
   * @param watched  the kernel tells who comes and goes: worth it for more than one pass
   */
  constructor(native: Binding, hierarchy: CgroupHierarchy, roots: readonly string[], effectOf: EffectOf, watched: boolean) {
    this.#native = native;
    this.#hierarchy = hierarchy;
    this.#roots = roots.map((path) => new SourceRoot(path, cgroupDirectory(hierarchy, path), watched ? native : undefined));
    this.#effectOf = effectOf;
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
        for (const [name, kind] of changes) this.#lookAgain({ root, name }, kind, unreadable);
      }
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

  #count(root: SourceRoot): number {
    if (this.#roots.length === 1) return this.#members.size;
    let count = 0;
    for (const member of this.#members.values()) if (member.root === root) count += 1;
    return count;
  }

  /** One row per child of the root. */
  #list(root: SourceRoot, unreadable: UnreadableWorkload[]): void {
    root.listing();
    const listed = new Set<string>();
    for (const name of namesIn(root)) {
      const found = { root, name };
      const path = pathOf(found);
      if (this.#controls.has(path)) continue;
      listed.add(path);
      if (!this.#members.has(path)) this.#add(found, unreadable);
    }
    // Removed, or (on v1) renamed: then its row would live on under the old name.
    for (const member of this.#members.values()) if (member.root === root && !listed.has(member.path)) this.#remove(member);
  }

  /** Something happened under this name: whoever has it now is the member. */
  #lookAgain(found: Found, kind: 'appeared' | 'vanished', unreadable: UnreadableWorkload[]): void {
    const known = this.#members.get(pathOf(found));
    if (known && inodeOf(`${found.root.directory}/${found.name}`) === known.id) return;
    if (known) this.#remove(known);
    if (kind === 'appeared') this.#add(found, unreadable); // who has come since it vanished will be told of
  }

  #add(found: Found, unreadable: UnreadableWorkload[]): void {
    const { root, name } = found;
    const path = pathOf(found);
    const directory = `${root.directory}/${name}`;
    let row: number | undefined;
    try {
      row = this.#table.add(directory);
      const id = this.#table.id(row);
      this.#members.set(path, { name, path, root, row, id, effect: this.#effectOf({ name, path }), limitBytes: this.#limit(directory) });
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

/** A child of a root, by its name. */
interface Found {
  readonly root: SourceRoot;
  readonly name: string;
}

function pathOf({ root, name }: Found): string {
  return root.path === '/' ? `/${name}` : `${root.path}/${name}`;
}
