import { readFileSync } from 'node:fs';
import { attempt } from '../../errors.js';
import { cgroupDirectory } from '../../core/workload/cgroup.js';
import type { RawValue } from '../../core/policy/raw-value.js';
import type { ScopeReading } from '../../core/policy/scope-reading.js';
import { cgroupAge } from '../../host/linux/cgroup/cgroup-directory.js';
import { openIoCost } from '../../host/linux/disk/io-cost.js';
import { openBoundMemory, openBoundNodes, type BoundNodes, type ReadBoundMemory } from '../../host/linux/memory/memory-nodes.js';
import { openProtection, sharesProtection, type ReadProtection } from '../../host/linux/memory/memory-protection.js';
import type { Hierarchies } from '../../host/linux/cgroup/hierarchies.js';
import type { Binding, CgroupHandle, CgroupTable } from '../../native/binding.js';
import type { UnitSince } from './unit-since.js';
import { BESIDE, valueFiles, type ValueFiles } from './value-files.js';

export interface CgroupValuesParts {
  readonly native: Binding;
  readonly hierarchies: Hierarchies;
  /** The request that a rule gives the workload at this path, in bytes; undefined: none does. */
  readonly requestOf: (path: string) => bigint | undefined;
  readonly unitSince: UnitSince;
}

/** A cgroup with its files open. */
interface Followed {
  readonly path: string;
  readonly row: number;
  readonly id: bigint;
  readonly values: ReadonlySet<RawValue>;
  /** Whether one of OTHERS is among them. */
  readonly hasOthers: boolean;
  /** Monotonic: it was made at the latest then. */
  readonly madeNs: bigint;
  /** When its unit was started, as systemd has said last. undefined: it is not a unit, or systemd has not answered yet. */
  unitSinceNs: bigint | undefined;
}

const ENODEV = 19;
const OTHERS = ['age', 'oom_score', 'memory.request', 'io.cost'] as const;

/** Raw values of cgroups, in one pass of the addon over all of them. */
export class CgroupValues {
  readonly #parts: CgroupValuesParts;
  readonly #files: ValueFiles;
  readonly #table: CgroupTable;
  /** undefined: they are not wanted. */
  readonly #boundNodes: BoundNodes | undefined;
  readonly #ioCost: ReturnType<typeof openIoCost>;
  /** undefined: not looked up yet. */
  #isRecursive: boolean | undefined;
  readonly #followed = new Map<string, Followed>();
  /** The values that were requested last. Only these are followed. */
  #wanted: ReadonlyMap<string, ReadonlySet<RawValue>> | undefined;
  /** Rows by what is read of them. */
  #groups: ReadonlyMap<number, Uint32Array> | undefined;
  #fields = new Float64Array();
  #errors = new Int32Array();

  /** @param values  all that are ever wanted */
  constructor(parts: CgroupValuesParts, values: Iterable<RawValue>) {
    const { native, hierarchies } = parts;
    this.#parts = parts;
    const wanted = withFiled(values);
    this.#ioCost = openIoCost(hierarchies);
    this.#files = valueFiles(hierarchies.memory?.version === 1 ? 'v1' : 'v2', wanted);
    this.#boundNodes = wanted.has('memory.boundNodes.available') ? openBoundNodes(hierarchies) : undefined;
    this.#table = new native.CgroupTable(this.#files.specs);
  }

  /** Follows these cgroups and no others, each for its values. One that cannot be opened is tried again by the next call. */
  follow(wanted: ReadonlyMap<string, ReadonlySet<RawValue>>): void {
    if (wanted === this.#wanted && this.#followed.size === wanted.size) return;
    this.#wanted = wanted;
    for (const { path, values } of [...this.#followed.values()]) if (wanted.get(path) !== values) this.#drop(path);
    for (const [path, values] of wanted) if (!this.#followed.has(path)) this.#open(path, values);
  }

  /** What is followed now. */
  get paths(): Iterable<string> {
    return this.#followed.keys();
  }

  /** Readings by path. A cgroup that was removed, or made again under its name, is left out and no longer followed. */
  read(): ReadonlyMap<string, ScopeReading> {
    const timeNs = process.hrtime.bigint();
    this.#readTable();
    const boundMemory = this.#boundNodes && openBoundMemory(this.#boundNodes);
    const protection = this.#openProtection();
    const readings = new Map<string, ScopeReading>();
    const { columns } = this.#table;
    for (const followed of this.#followed.values()) {
      const { path, row, id } = followed;
      if (this.#errors[row] === ENODEV) {
        this.#drop(path);
        continue;
      }
      const values = new Map<RawValue, number>();
      this.#files.read(this.#fields, row * columns, values);
      if (followed.hasOthers) this.#addOthers(followed, timeNs, values);
      if (followed.values.has('memory.protected')) values.set('memory.protected', protection(path));
      if (boundMemory && followed.values.has('memory.boundNodes.available')) addBoundMemory(boundMemory(path), values);
      readings.set(path, { path, id, timeNs, values });
    }
    return readings;
  }

  close(): void {
    this.#followed.clear();
    this.#table.close();
  }

  /** Values that are not a number of a file of the cgroup. */
  #addOthers(followed: Followed, timeNs: bigint, values: Map<RawValue, number>): void {
    const { path, row, id, values: wanted } = followed;
    if (wanted.has('age')) {
      const since = this.#parts.unitSince(path);
      if (typeof since === 'bigint') followed.unitSinceNs = since;
      // The cgroup is the same, so what systemd said before still counts while it is asked again.
      const sinceNs = followed.unitSinceNs ?? (since === 'awaited' ? undefined : followed.madeNs);
      if (sinceNs !== undefined) values.set('age', Number(timeNs - sinceNs) / 1e9);
    }
    if (wanted.has('oom_score')) values.set('oom_score', this.#oomScore(path, id));
    const cost = wanted.has('io.cost') ? this.#ioCost(path) : undefined;
    if (cost !== undefined) values.set('io.cost', cost);
    if (!wanted.has('memory.request')) return;
    const first = row * this.#table.columns;
    const kept = (['memory.low', 'memory.min'] as const).map((value) => this.#files.one(value, this.#fields, first) || 0);
    const request = Number(this.#parts.requestOf(path) ?? Math.max(...kept));
    // 0 is not a request: every use would be above a share of it.
    if (Number.isFinite(request) && request > 0) values.set('memory.request', request);
  }

  /** The protections of one pass. */
  #openProtection(): ReadProtection {
    const { memory } = this.#parts.hierarchies;
    if (memory === undefined) return () => 0;
    this.#isRecursive ??= sharesProtection(memory);
    return openProtection(memory, this.#isRecursive);
  }

  /** The largest of its first processes; 0: it has none. */
  #oomScore(path: string, id: bigint): number {
    const { native, hierarchies } = this.#parts;
    if (hierarchies.memory === undefined) return 0;
    let handle: CgroupHandle | undefined;
    try {
      handle = new native.CgroupHandle(cgroupDirectory(hierarchies.memory, path), id);
      return Math.max(0, ...handle.processes().slice(0, MAX_PROCESSES).map(oomScoreOf));
    } catch {
      return 0; // removed, or too many cgroups to list
    } finally {
      handle?.close();
    }
  }

  #open(path: string, values: ReadonlySet<RawValue>): void {
    const { memory } = this.#parts.hierarchies;
    if (memory === undefined) return;
    const directory = cgroupDirectory(memory, path);
    let row: number;
    try {
      row = this.#table.add(directory, memory.version === 2 ? [] : this.#beside(path));
    } catch {
      return; // removed, or evictd lacks descriptors: the next call tries again
    }
    const ageNs = values.has('age') ? BigInt(Math.round(cgroupAge(directory) * 1e9)) : 0n;
    const madeNs = process.hrtime.bigint() - ageNs;
    const hasOthers = OTHERS.some((value) => values.has(value));
    this.#followed.set(path, { path, row, id: this.#table.id(row), values, hasOthers, madeNs, unitSinceNs: undefined });
    this.#makeRoom();
    this.#fields.fill(NaN, row * this.#table.columns, (row + 1) * this.#table.columns);
    this.#groups = undefined;
  }

  #beside(path: string): string[] {
    const { hierarchies } = this.#parts;
    return BESIDE.map((name) => {
      const hierarchy = hierarchies[name];
      return hierarchy === undefined ? NOWHERE : cgroupDirectory(hierarchy, path);
    });
  }

  #drop(path: string): void {
    const followed = this.#followed.get(path);
    if (followed === undefined) return;
    this.#table.remove(followed.row);
    this.#followed.delete(path);
    this.#groups = undefined;
  }

  #readTable(): void {
    this.#groups ??= this.#grouped();
    for (const [mask, rows] of this.#groups) this.#table.read(this.#fields, this.#errors, rows, mask);
  }

  #grouped(): ReadonlyMap<number, Uint32Array> {
    const rows = new Map<number, number[]>();
    for (const { row, values } of this.#followed.values()) {
      const mask = this.#files.maskOf(withFiled(values));
      const group = rows.get(mask) ?? [];
      rows.set(mask, group);
      group.push(row);
    }
    return new Map([...rows].map(([mask, group]) => [mask, Uint32Array.from(group)]));
  }

  #makeRoom(): void {
    const { rowCount, columns } = this.#table;
    if (this.#errors.length >= rowCount) return;
    const [fields, errors] = [this.#fields, this.#errors];
    this.#fields = new Float64Array(2 * rowCount * columns).fill(NaN);
    this.#errors = new Int32Array(2 * rowCount);
    this.#fields.set(fields);
    this.#errors.set(errors);
  }
}

function addBoundMemory(memory: ReturnType<ReadBoundMemory>, values: Map<RawValue, number>): void {
  if (memory === undefined) return;
  values.set('memory.boundNodes.available', Number(memory.availableBytes));
  values.set('memory.boundNodes.capacity', Number(memory.capacityBytes));
}

/** The maximum number of processes whose oom_score is read: a reading must not take long. */
const MAX_PROCESSES = 256;

/** 0: it has ended. */
function oomScoreOf(pid: number): number {
  return attempt(() => Number(readFileSync(`/proc/${String(pid)}/oom_score`, 'latin1'))) ?? 0;
}

/** No directory has this name. */
const NOWHERE = '/dev/null';

/** A file that every cgroup has shows that it was removed. Without a rule a request is what the kernel guarantees. */
function withFiled(values: Iterable<RawValue>): ReadonlySet<RawValue> {
  const all = new Set(values).add('memory.current');
  if (all.has('memory.request')) all.add('memory.low').add('memory.min');
  return all;
}
