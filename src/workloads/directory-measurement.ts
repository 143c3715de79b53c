import { constants } from 'node:os';
import type { DiskAmount } from '../core/disk-holding.js';
import type { DirectoryToEmpty, WorkloadDirectory } from '../core/workload-directory.js';
import type { Workload } from '../core/workload.js';
import { errnoText } from '../errors.js';
import type { SourceProblem } from '../monitor/ports.js';
import type { Binding, DirectoryUsageResult } from '../native/binding.js';
import { answered } from '../native/answered.js';
import { notEmptied, objectionTo, type KeptDirectory } from './emptying-objection.js';

/** What a directory of a workload takes. */
export interface MeasuredDirectory {
  /** st_dev. */
  readonly device: bigint;
  readonly amount: DiskAmount;
  /** When it was measured, monotonic clock. */
  readonly atNs: bigint;
}

/** One that a rule names. */
export interface OwnDirectory extends MeasuredDirectory {
  /** st_ino. */
  readonly inode: bigint;
  /** It is emptied when its workload is evicted. Left out: it is not, or there is nothing in it. */
  readonly empties?: DirectoryToEmpty;
}

/** What reads a disk in the background is given up after this time. */
export const NO_ANSWER_MS = 60_000;
/** Measured again no sooner than this after it was begun, and for no more than this part of the time. */
const REST_NS = 60_000_000_000n;
const REST_PART = 20n;
/** Where a disk is short it is awaited for so long what those directories take by now that are emptied; after that nothing comes back of them. */
const AWAITED_NS = 60_000_000_000n;
/** So many walks that do not answer are left behind; then none is begun, because nothing else could look at a disk any more. */
const UNANSWERED_AT_MOST = 2;

/** What the workloads' own directories take, as last measured: one walk after the other, which may take minutes, so that nobody waits for it. */
export class DirectoryMeasurement {
  readonly #native: Binding;
  readonly #kept: () => readonly KeptDirectory[];
  /** By path of the workload's cgroup. */
  #latest: ReadonlyMap<string, readonly OwnDirectory[]> = new Map();
  /** When the first walk of their directories was begun, by path of the workload's cgroup. */
  #walkedNs: ReadonlyMap<string, bigint> = new Map();
  /** Paths of the cgroups of those whose directories are emptied. */
  #emptied: ReadonlySet<string> = new Set();
  #problems: readonly SourceProblem[] = [];
  #measuring = false;
  #beganNs = 0n;
  #dueNs = 0n;
  #forgottenNs = 0n;
  /** What was begun in an older one is not so any more. */
  #generation = 0;
  /** Directories whose walk has not answered: it may hang for good, and is not begun a second time. */
  readonly #unanswered = new Set<string>();

  /** @param kept  what is never emptied on this machine */
  constructor(native: Binding, kept: () => readonly KeptDirectory[]) {
    this.#native = native;
    this.#kept = kept;
  }

  /**
   * Those of the workload of this cgroup, as last measured. 'measuring': one that is emptied was measured before the shortage, in which it may have changed, and is about
   * to be measured anew.
   *
   * @param shortSinceNs  monotonic clock; left out: nothing is decided
   */
  of(path: string, shortSinceNs?: bigint): readonly OwnDirectory[] | 'measuring' {
    const own = this.#latest.get(path) ?? [];
    if (shortSinceNs === undefined || !this.#emptied.has(path)) return own;
    const sinceNs = shortSinceNs > this.#forgottenNs ? shortSinceNs : this.#forgottenNs;
    const walkedNs = this.#walkedNs.get(path);
    if (walkedNs !== undefined && walkedNs >= sinceNs) return own;
    const nowNs = process.hrtime.bigint();
    const isFirst = walkedNs === undefined && this.#measuring && nowNs - this.#beganNs < AWAITED_NS;
    if (isFirst || nowNs - sinceNs < AWAITED_NS) return 'measuring';
    return own.map(kept);
  }

  /** What was measured, and what is being measured, is not so any more: it is measured anew the next time. */
  forget(): void {
    [this.#latest, this.#walkedNs] = [new Map(), new Map()];
    this.#dueNs = 0n;
    this.#forgottenNs = process.hrtime.bigint();
    this.#generation += 1;
  }

  /** What could not be looked at. */
  get problems(): readonly SourceProblem[] {
    return this.#problems;
  }

  /**
   * Measures those of these workloads, unless that is under way or was done a moment ago. What several workloads name is nobody's. Tells whether it did. Never rejects.
   *
   * @param shortSinceNs  where one is emptied what was measured before does not count, monotonic clock; undefined: no disk is short
   */
  async refresh(workloads: readonly Workload[], shortSinceNs?: bigint): Promise<boolean> {
    const beganNs = process.hrtime.bigint();
    const emptied = workloads.filter(({ directories = [] }) => directories.some(({ onEvict }) => onEvict === 'empty'));
    this.#emptied = new Set(emptied.map(({ path }) => path));
    const isOld = shortSinceNs !== undefined && emptied.length > 0 && this.#beganNs < shortSinceNs;
    if (this.#measuring || (beganNs < this.#dueNs && !isOld)) return false;
    this.#measuring = true;
    this.#beganNs = beganNs;
    const generation = this.#generation;
    const measured = new Map<string, OwnDirectory[]>();
    const walkedNs = new Map<string, bigint>();
    const problems: SourceProblem[] = [];
    let walkingNs = 0n;
    for (const [path, owners] of ownersOf(workloads)) {
      const atNs = process.hrtime.bigint();
      for (const { workload } of owners) if (!walkedNs.has(workload.path)) walkedNs.set(workload.path, atNs);
      const [owner, other] = owners;
      if (owner === undefined || other !== undefined) {
        const paths = owners.map(({ workload }) => workload.path);
        problems.push(shared(path, paths));
        continue;
      }
      const found = await this.#walked(path);
      if (this.#generation !== generation) break;
      if (typeof found === 'object') walkingNs += process.hrtime.bigint() - atNs;
      if (typeof found === 'object' && found.device !== 0n) {
        const amount = { bytes: BigInt(found.bytes), inodes: BigInt(found.inodes) };
        const objection = owner.onEvict === 'empty' ? objectionTo(path, owner.workload, found, this.#kept()) : undefined;
        if (objection !== undefined) problems.push(notEmptied(path, owner.workload.name, objection));
        const holds = { ...amount, inodes: amount.inodes - 1n }; // it stays itself
        const isEmptied = owner.onEvict === 'empty' && objection === undefined && holds.inodes > 0n;
        const empties = { path, device: found.device, inode: found.inode, holds };
        const before = measured.get(owner.workload.path) ?? [];
        measured.set(owner.workload.path, [
          ...before,
          { device: found.device, inode: found.inode, amount, atNs, ...(isEmptied && { empties }) },
        ]);
      }
      const trouble = troubleWith(found);
      if (trouble !== undefined) {
        problems.push({ code: 'EVICTD_DISK_UNMEASURED', message: `what ${path} takes is not known, or not all of it: ${trouble}` });
      }
    }
    this.#measuring = false;
    if (this.#generation !== generation) return false;
    problems.push(...leaveTwofold(measured));
    const restNs = walkingNs * REST_PART;
    this.#dueNs = beganNs + (restNs > REST_NS ? restNs : REST_NS);
    [this.#latest, this.#walkedNs, this.#problems] = [measured, walkedNs, problems];
    return true;
  }

  /** What does not answer in time is not closed, so that it shows when it does. */
  async #walked(path: string): Promise<DirectoryUsageResult | string> {
    if (this.#unanswered.has(path)) return 'it still does not answer';
    if (this.#unanswered.size >= UNANSWERED_AT_MOST) return `${[...this.#unanswered].join(' and ')} do not answer`;
    return answered<DirectoryUsageResult>(NO_ANSWER_MS, (onDone) => {
      new this.#native.DirectoryUsage(path, (found) => {
        this.#unanswered.delete(path);
        onDone(found);
      });
      this.#unanswered.add(path);
      return { close: () => undefined };
    });
  }
}

function shared(path: string, owners: readonly string[]): SourceProblem {
  return {
    code: 'EVICTD_DIRECTORY_SHARED',
    message: `${path} is a directory of ${String(owners.length)} workloads, ${owners.slice(0, 2).join(' and ')} among them: it counts for none`,
    hint: 'a directory is one workload’s own: let its rule match that one only',
  };
}

/** One directory under two names, as by a bind mount, is shared, and not emptied. */
function leaveTwofold(measured: Map<string, OwnDirectory[]>): SourceProblem[] {
  const all = [...measured.values()].flat();
  const isTwofold = (one: OwnDirectory): boolean =>
    all.some((other) => other !== one && other.device === one.device && other.inode === one.inode);
  const problems: SourceProblem[] = [];
  for (const [owner, directories] of measured) {
    const left = directories.map((directory) => {
      const { empties } = directory;
      if (empties === undefined || !isTwofold(directory)) return directory;
      const objection = { why: 'it has another name, which a rule names, too', hint: 'name a directory once' };
      problems.push(notEmptied(empties.path, owner, objection));
      return kept(directory);
    });
    measured.set(owner, left);
  }
  return problems;
}

/** As if it were not emptied. */
function kept({ device, inode, amount, atNs }: OwnDirectory): OwnDirectory {
  return { device, inode, amount, atNs };
}

/** undefined: all is known, or it is not there, which is no trouble. */
function troubleWith(found: DirectoryUsageResult | string): string | undefined {
  if (typeof found === 'string') return found;
  if (found.device === 0n && found.errno === constants.errno.ENOENT) return undefined;
  if (found.errors > 0) return errnoText(found.errno);
  return found.complete ? undefined : 'it was moved meanwhile';
}

interface Owner {
  readonly workload: Workload;
  readonly onEvict: WorkloadDirectory['onEvict'];
}

/** Those that name it, by directory. */
function ownersOf(workloads: readonly Workload[]): ReadonlyMap<string, readonly Owner[]> {
  const owners = new Map<string, Owner[]>();
  for (const workload of workloads) {
    for (const { path, onEvict } of workload.directories ?? []) {
      owners.set(path, [...(owners.get(path) ?? []), { workload, onEvict }]);
    }
  }
  return owners;
}
