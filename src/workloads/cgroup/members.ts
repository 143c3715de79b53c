import { childPath, type CgroupHierarchy } from '../../core/workload/cgroup.js';
import { isAvoidedSession } from '../../core/systemd/protected-units.js';
import { unitPlace } from '../../core/systemd/unit.js';
import type { UnreadableWorkload } from '../../core/workload/workload.js';
import { errnoName, errnoText } from '../../errors.js';
import type { SourceProblem } from '../../monitor/ports/ports.js';
import type { Binding, CgroupTable } from '../../native/binding.js';
import type { ContainerNames } from '../cri/container-names.js';
import type { CgroupNames } from './cgroup-names.js';
import { cgroupFiles, limitIn, processesIn, type CgroupFiles, type CgroupSample } from './cgroup-files.js';
import type { RuleEffect } from '../workload-rules.js';
import type { OomPreferences } from './oom-preference.js';
import { type Member, type Sampled, inodeOf, type MemberRoot } from './source-root.js';
import { memberProtection } from './protection.js';

type EffectOf = (workload: { readonly name: string; readonly path: string }) => RuleEffect;

interface MembersParts {
  readonly hierarchy: CgroupHierarchy;
  /** Roots without duplicates; those of reports first. A cgroup belongs to the first root that reports it. */
  readonly roots: readonly MemberRoot[];
  readonly effectOf: EffectOf;
  /** Active page cache is usage. */
  readonly countsCache: boolean;
  readonly preferences: OomPreferences;
  readonly containerNames: ContainerNames;
  readonly names: CgroupNames;
}

/** The members of the sources, with their files open. */
export class Members {
  readonly #native: Binding;
  readonly #parts: MembersParts;
  readonly #files: CgroupFiles;
  readonly #table: CgroupTable;
  /** The table's values; grows. */
  #values = new Float64Array();
  #errors = new Int32Array();
  readonly #members = new Map<string, Member>();
  /** The roots' own files, which are not cgroups. */
  readonly #controls = new Set<string>();
  /** Cgroups that could not be opened: tried again in every pass. */
  readonly #unopened = new Map<string, Found>();
  /** Another number when one was added or removed. */
  version = 0;

  constructor(native: Binding, parts: MembersParts) {
    this.#native = native;
    this.#parts = parts;
    this.#files = cgroupFiles(parts.hierarchy.version, parts.countsCache);
    this.#table = new native.CgroupTable(this.#files.specs);
    this.watch();
  }

  /** Begins to watch sources that exist by now. */
  watch(): void {
    for (const root of this.#parts.roots) root.watch();
  }

  /** Adds and removes members without reading them. */
  follow(unreadable: UnreadableWorkload[]): void {
    const retried = [...this.#unopened.values()];
    this.#unopened.clear();
    for (const root of this.#parts.roots) {
      const changes = root.changes(() => this.#count(root));
      if (changes === 'unknown') this.#list(root, unreadable);
      else if (changes !== 'none') {
        for (const [below, kind] of changes) this.#lookAgain({ root, below }, kind, unreadable);
      }
    }
    // The new name or label may match other rules.
    for (const path of [...this.#parts.containerNames.found(), ...this.#parts.roots.flatMap((root) => root.relabelled?.() ?? [])]) {
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

  /**
   * Reads all members with processes in one pass. Adds what could not be opened to `unreadable`.
   *
   * @param isBounds  reads no working sets
   */
  read(unreadable: UnreadableWorkload[], isBounds = false): { readonly occupied: readonly Sampled[]; readonly timeNs: bigint } {
    this.follow(unreadable);
    const timeNs = process.hrtime.bigint();
    this.#readTable(undefined, isBounds ? this.#files.cheap : undefined);
    this.#replaceRemoved(unreadable);
    const occupied: Sampled[] = [];
    for (const member of this.#members.values()) {
      const found = this.#look(member, isBounds);
      if (found) occupied.push(found);
    }
    return { timeNs, occupied };
  }

  /** Reads one again, with its working set; undefined: it cannot be read. */
  measure(member: Member): CgroupSample | undefined {
    if (this.#members.get(member.path) !== member) return undefined;
    this.#readTable(Uint32Array.of(member.row));
    return this.#look(member, false)?.sample;
  }

  /** Whether processes live in it or below, by the last pass; undefined: unknown (v1). */
  isPopulated({ row }: Member): boolean | undefined {
    return this.#errors[row] === 0 ? this.#files.populated(this.#values, row * this.#table.columns) : undefined;
  }

  get count(): number {
    return this.#members.size;
  }

  /** Members without processes in the last pass (v2). */
  vacant(): readonly Sampled[] {
    const { columns } = this.#table;
    return [...this.#members.values()]
      .filter(({ row }) => this.#errors[row] !== ENODEV && this.#files.populated(this.#values, row * columns) === false)
      .map((member) => ({ member, sample: this.#files.sample(this.#values, member.row * columns) }));
  }

  processes(member: Member): readonly number[] | 'too many' | undefined {
    return processesIn(this.#native, this.#parts.hierarchy, member);
  }

  /** The paths of those that list one of these pids. */
  listing(pids: readonly number[], members: readonly Pick<Sampled, 'member'>[]): readonly string[] {
    const lists = (listed: ReturnType<Members['processes']>): boolean =>
      typeof listed === 'object' && listed.some((pid) => pids.includes(pid));
    return members.flatMap(({ member }) => (lists(this.processes(member)) ? [member.path] : []));
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

  problems(): readonly SourceProblem[] {
    return this.#parts.roots.flatMap((root) => root.problem() ?? []);
  }

  close(): void {
    for (const root of this.#parts.roots) root.close();
    this.#members.clear();
    this.#table.close();
  }

  /** The name belongs to another cgroup or to none: the next pass looks. */
  forget(member: Member): void {
    if (this.#members.get(member.path) === member) this.#remove(member);
    member.root.forget();
  }

  #count(root: MemberRoot): number {
    if (this.#parts.roots.length === 1) return this.#members.size;
    let count = 0;
    for (const member of this.#members.values()) if (member.root === root) count += 1;
    return count;
  }

  /** Adds and removes the root's members. */
  #list(root: MemberRoot, unreadable: UnreadableWorkload[]): void {
    const listed = new Set<string>();
    const later = this.#parts.roots.slice(this.#parts.roots.indexOf(root) + 1);
    for (const below of root.list()) {
      const found = { root, below };
      const path = pathOf(found);
      if (this.#controls.has(path)) continue;
      listed.add(path);
      const known = this.#members.get(path);
      if (known && root.names === 'reported' && later.includes(known.root)) this.#remove(known);
      if (!this.#members.has(path)) this.#add(found, unreadable);
    }
    // Removed, or (v1) renamed, which would keep the row under the old name.
    for (const member of this.#members.values()) {
      if (member.root !== root || listed.has(member.path)) continue;
      this.#remove(member);
      // It may become a member of another root.
      if (root.names === 'reported') for (const other of later) other.relist();
    }
  }

  /** Replaces the member of a name that appeared or vanished. */
  #lookAgain(found: Found, kind: 'appeared' | 'vanished', unreadable: UnreadableWorkload[]): void {
    const known = this.#members.get(pathOf(found));
    if (known && inodeOf(`${found.root.directory}/${found.below}`) === known.id) return;
    if (known) this.#remove(known);
    if (kind === 'appeared') this.#add(found, unreadable); // the kernel reports a later one
  }

  #add(found: Found, unreadable: UnreadableWorkload[]): void {
    const { root, below } = found;
    const path = pathOf(found);
    const name =
      (root.names === 'reported' ? undefined : this.#parts.containerNames.of(path, () => this.#parts.names.namer(path))) ??
      root.nameOf(below);
    const directory = `${root.directory}/${below}`;
    let row: number | undefined;
    try {
      row = this.#table.add(directory);
      const id = this.#table.id(row);
      const { unit } = unitPlace(path);
      const effect = this.#parts.effectOf({ name, path });
      const member: Member = {
        ...{ name, path, root, row, id, effect },
        listed: memberProtection({ path, effect }, root.isWhole(below), this.#parts.names),
        isSession: isAvoidedSession(path, this.#parts.names),
        unit: unit?.path === path ? unit : undefined,
        limitBytes: limitIn(`${directory}/${this.#files.limitFile}`),
      };
      this.#members.set(path, member);
      this.version += 1;
      this.#parts.preferences.look(member);
    } catch (error) {
      if (row !== undefined) this.#table.remove(row);
      const errno = errnoName(error);
      if (errno === 'ENOTDIR') {
        this.#controls.add(path);
        return;
      }
      // ENOENT: removed since; ESTALE: removed and made again. The next pass sees it.
      if (errno !== 'ENOENT' && errno !== 'ESTALE') unreadable.push({ name, path, reason: String(error) });
      if (errno !== 'ENOENT') this.#unopened.set(path, found);
    }
  }

  #remove(member: Member): void {
    this.#table.remove(member.row);
    this.#members.delete(member.path);
    this.version += 1;
    this.#parts.preferences.forget(member);
  }

  /** Drops rows of removed cgroups, and adds new ones. */
  #replaceRemoved(unreadable: UnreadableWorkload[]): void {
    const removed = [...this.#members.values()].filter(({ row }) => this.#errors[row] === ENODEV);
    if (removed.length === 0) return;
    for (const member of removed) this.forget(member);
    const before = new Set(this.#members.values());
    this.follow(unreadable);
    const added = [...this.#members.values()].filter((member) => !before.has(member)).map(({ row }) => row);
    if (added.length > 0) this.#readTable(Uint32Array.from(added));
  }

  /** Reads all rows, or these; all files, or those of the mask. */
  #readTable(rows?: Uint32Array, mask?: number): void {
    const { rowCount, columns } = this.#table;
    if (this.#errors.length < rowCount) {
      const [values, errors] = [this.#values, this.#errors];
      this.#values = new Float64Array(2 * rowCount * columns).fill(NaN);
      this.#errors = new Int32Array(2 * rowCount).fill(ENODEV);
      this.#values.set(values);
      this.#errors.set(errors);
    }
    this.#table.read(this.#values, this.#errors, rows, mask);
  }

  /** undefined: removed, or without processes (v2; v1 takes another read). */
  #look(member: Member, isBound: boolean): Sampled | undefined {
    if (this.#errors[member.row] === ENODEV) return undefined;
    const first = member.row * this.#table.columns;
    if (this.#files.populated(this.#values, first) === false) return undefined;
    return { member, sample: this.#files.sample(this.#values, first, isBound) };
  }
}

const ENOENT = 2;
const ENODEV = 19;

interface Found {
  readonly root: MemberRoot;
  readonly below: string;
}

function pathOf({ root, below }: Found): string {
  return childPath(root.path, below);
}
