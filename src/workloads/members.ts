import { readdirSync, readFileSync, statSync } from 'node:fs';
import { cgroupDirectory, type CgroupHierarchy } from '../core/cgroup.js';
import type { UnreadableWorkload } from '../core/workload.js';
import { errnoName, errnoText } from '../errors.js';
import type { Binding, CgroupHandle, CgroupTable } from '../native/binding.js';
import { cgroupFiles, limitBytes, type CgroupFiles, type CgroupSample } from './cgroup-files.js';
import type { RuleEffect } from './rules.js';

/** A child of a source. */
export interface Member {
  readonly name: string;
  readonly path: string;
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
  readonly #roots: readonly string[];
  readonly #effectOf: EffectOf;
  readonly #files: CgroupFiles;
  readonly #table: CgroupTable;
  /** What the table was read into; longer when it grows. */
  #values = new Float64Array();
  #errors = new Int32Array();
  readonly #members = new Map<string, Member>();
  /** Paths of the roots' own files, which are no cgroups: they are the same at every listing. */
  readonly #controls = new Set<string>();
  #listed = false;

  /** @param roots  paths of cgroups, each once */
  constructor(native: Binding, hierarchy: CgroupHierarchy, roots: readonly string[], effectOf: EffectOf) {
    this.#native = native;
    this.#hierarchy = hierarchy;
    this.#roots = roots;
    this.#effectOf = effectOf;
    this.#files = cgroupFiles(hierarchy.version);
    this.#table = new native.CgroupTable(this.#files.specs);
  }

  /** One pass over all that have processes in them. What could not be opened is added to `unreadable`. */
  read(unreadable: UnreadableWorkload[]): { readonly occupied: readonly Sampled[]; readonly timeNs: bigint } {
    if (!this.#isComplete()) this.#list(unreadable);
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

  close(): void {
    this.#members.clear();
    this.#table.close();
  }

  /** The names were wrong: the next pass lists anew. */
  forget(): void {
    this.#listed = false;
  }

  /**
   * Whether the directories hold as many cgroups as are known: a directory of kernfs counts its subdirectories in its links, at once. As long as none of
   * the known was removed, they are the same then. Only a renamed one (v1) does not show.
   */
  #isComplete(): boolean {
    let links = 0;
    for (const root of this.#roots) links += (statSync(cgroupDirectory(this.#hierarchy, root), { throwIfNoEntry: false })?.nlink ?? 2) - 2;
    return this.#listed && links === this.#members.size;
  }

  /** Brings the table in line with the directories: one row per child of a source. Returns the rows that are new. */
  #list(unreadable: UnreadableWorkload[]): number[] {
    const listed = new Set<string>();
    const added: number[] = [];
    for (const root of this.#roots) {
      for (const name of namesIn(cgroupDirectory(this.#hierarchy, root))) {
        const path = root === '/' ? `/${name}` : `${root}/${name}`;
        if (this.#controls.has(path)) continue;
        listed.add(path);
        const member = this.#members.has(path) ? undefined : this.#add(name, path, unreadable);
        if (member) added.push(member.row);
      }
    }
    // Removed, or (on v1) renamed: then its row would live on under the old name.
    for (const member of this.#members.values()) if (!listed.has(member.path)) this.#remove(member);
    this.#listed = true;
    return added;
  }

  #add(name: string, path: string, unreadable: UnreadableWorkload[]): Member | undefined {
    const directory = cgroupDirectory(this.#hierarchy, path);
    let row: number | undefined;
    try {
      row = this.#table.add(directory);
      const id = this.#table.id(row);
      const member = { name, path, row, id, effect: this.#effectOf({ name, path }), limitBytes: this.#limit(directory) };
      this.#members.set(path, member);
      return member;
    } catch (error) {
      if (row !== undefined) this.#table.remove(row);
      const errno = errnoName(error);
      if (errno === 'ENOTDIR') {
        this.#controls.add(path);
        return undefined;
      }
      // ENOENT: removed since it was listed; ESTALE: removed and made again since then. The next pass sees it.
      if (errno !== 'ENOENT' && errno !== 'ESTALE') unreadable.push({ name, path, reason: String(error) });
      return undefined;
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
    for (const member of removed) this.#remove(member);
    const added = this.#list(unreadable);
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

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return []; // `problems` says so
  }
}
