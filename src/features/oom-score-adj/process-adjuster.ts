import type { CgroupHierarchy } from '../../core/workload/cgroup.js';
import type { OomProcess } from '../../core/oom/oom-order.js';
import type { Workload } from '../../core/workload/workload.js';
import { isShortage, errnoName } from '../../errors.js';
import type { Log } from '../../log/log.js';
import type { OomScoreAdjTarget } from '../../core/oom/oom-score-adj-target.js';
import type { Binding } from '../../native/binding.js';
import { OomScoreAdjWarnings } from './adjustment-errors.js';
import type { FoundFile } from './original-values-file.js';
import { Ledger, type AdjustedWorkload } from './adjustment-ledger.js';
import { ProcessListing, type SeenProcess } from './oom-score-adj-file.js';
import type { AdjustedProcess, Observed, RestoreResult } from './adjusted-process.js';

/** Rounds of searching for children forked while their parents are restored. */
const ROUNDS = 8;

interface RestoredOomScoreAdj {
  readonly processes: number;
  readonly failed: number;
}

/**
 * oom_score_adj of the processes in cgroups. Never changes evictd's own value, nor one of −1000. An error with a
 * process is logged. If evictd itself lacks a resource (descriptors, memory), `look`, `measure` and `write` throw, and
 * the whole may be begun again. They yield after a few processes, so that they can be interrupted or given up.
 */
export class OomScoreAdj {
  readonly #warnings: OomScoreAdjWarnings;
  readonly #ledger: Ledger;
  readonly #listing: ProcessListing;

  constructor(native: Binding, hierarchy: CgroupHierarchy, file: FoundFile, log: Log) {
    this.#warnings = new OomScoreAdjWarnings(log);
    this.#listing = new ProcessListing(native, hierarchy, this.#warnings);
    this.#ledger = new Ledger(file, this.#listing, this.#warnings);
  }

  /** Restores the state from the file of an evictd that was killed. */
  takeOver(): void {
    this.#ledger.takeOver();
  }

  /**
   * The processes of a workload with their original values, without those that are left alone. undefined: they cannot
   * be listed.
   */
  *look(workload: Workload): Generator<void, readonly OomProcess[] | undefined> {
    const pids = this.#listing.pids({ path: workload.path, cgroupId: workload.startOrder });
    if (pids === undefined) return undefined;
    const touched = this.#ledger.open(workload);
    const seen = yield* this.#listing.seen(pids);
    const unknown = seen.filter((each) => memberOf(touched, each) === undefined);
    const listed = new Set(seen.map(({ identity }) => identity.pid));
    for (const member of touched.members.values()) if (!listed.has(member.pid)) this.#restoreOne(touched, member);
    const drifted = seen.flatMap((each) => this.#observed(touched, each, memberOf(touched, each)));
    this.#warnings.drifted(touched.name, drifted);
    this.#ledger.admit(touched, unknown);
    return seen.flatMap(({ identity, sizeBytes }) => {
      const member = touched.members.get(identity.pid);
      return member === undefined || member.left ? [] : { foundAdj: member.found, sizeBytes };
    });
  }

  /** Reads the processes of a workload that is never written to: nothing is kept. */
  *measure({ id, path, startOrder }: Workload): Generator<void, readonly OomProcess[]> {
    const known = this.#ledger.get(id)?.members;
    const pids = this.#listing.pids({ path, cgroupId: startOrder }) ?? [];
    const seen = yield* this.#listing.seen(pids);
    return seen.map(({ identity: { pid }, value, sizeBytes }) => ({ foundAdj: known?.get(pid)?.found ?? value, sizeBytes }));
  }

  /** Saves the original values of these targets to a file. false: that failed, and nothing may be written. */
  keep(targets: readonly OomScoreAdjTarget[]): boolean {
    for (const target of targets) {
      const touched = this.#ledger.get(target.workload.id);
      for (const member of touched?.members.values() ?? []) {
        const value = member.wanted(target);
        if (value === member.now || value === member.found || touched?.written.has(value) !== false) continue;
        touched.written.add(value);
        this.#ledger.changed();
      }
    }
    return this.#ledger.save();
  }

  /**
   * Writes to the processes that `look` has seen and `keep` has saved. Returns whether there are new processes: `keep`
   * and `write` again.
   */
  *write(target: OomScoreAdjTarget): Generator<void, boolean> {
    const touched = this.#ledger.get(target.workload.id);
    if (touched === undefined) return false;
    const drifted: Drifted[] = [];
    try {
      for (const member of touched.members.values()) {
        const value = member.wanted(target);
        if (member.left || member.now === value || member.refused === value) continue;
        if (this.#writeTo(touched, member, value) === 'drifted') drifted.push({ pid: member.pid, value: member.now });
        yield;
      }
    } finally {
      this.#warnings.drifted(touched.name, drifted);
    }
    const arrived = yield* this.#listing.seen(this.#ledger.newPids(touched));
    return this.#ledger.admit(touched, arrived) > 0;
  }

  restoreOthers(targets: readonly OomScoreAdjTarget[]): void {
    const ids = new Set(targets.map(({ workload }) => workload.id));
    for (const touched of this.#ledger.all()) if (!ids.has(touched.id)) this.#restoreAll(touched);
    this.#ledger.save();
  }

  /** Restores all processes. Those that fail stay in the file. */
  restore(): RestoredOomScoreAdj {
    let [processes, failed] = [0, 0];
    for (const touched of this.#ledger.all()) {
      const given = this.#restoreAll(touched);
      processes += given.processes;
      failed += given.failed;
    }
    this.#ledger.save();
    return { processes, failed };
  }

  /** Restores one process that ended or moved to another cgroup. */
  #restoreOne(touched: AdjustedWorkload, member: AdjustedProcess): void {
    if (this.#restored(touched, member) === 'failed') return;
    touched.members.delete(member.pid);
    this.#ledger.changed();
  }

  /** Includes children forked meanwhile. Never throws: failures stay in the ledger, and so in the file. */
  #restoreAll(touched: AdjustedWorkload): RestoredOomScoreAdj {
    const results = new Map<AdjustedProcess, RestoreResult>();
    let children: number | undefined;
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const member of touched.members.values()) if (!results.has(member)) results.set(member, this.#restored(touched, member));
      children = this.#admitChildren(touched);
      if (children === undefined || children === 0) break;
    }
    const failed = countOf(results, 'failed');
    if (failed === 0 && children !== undefined) {
      this.#ledger.remove(touched);
    } else {
      for (const [{ pid }, result] of results) if (result === 'given' || result === 'nothing') touched.members.delete(pid);
      this.#ledger.changed();
    }
    return { processes: countOf(results, 'given'), failed };
  }

  /** Adds children with a value of evictd's. undefined: they cannot be listed now. */
  #admitChildren(touched: AdjustedWorkload): number | undefined {
    try {
      const children = this.#listing.see(this.#ledger.newPids(touched)).filter(({ value }) => touched.written.has(value));
      return this.#ledger.admit(touched, children);
    } catch (error) {
      this.#warnings.postponed(touched.name, error);
      return undefined;
    }
  }

  #restored(touched: AdjustedWorkload, member: AdjustedProcess): RestoreResult {
    try {
      return member.restore(touched.written);
    } catch (error) {
      if (isShortage(error)) this.#warnings.postponed(touched.name, error);
      else this.#warnings.refused(member.pid, { workload: touched.name, from: member.now, to: member.found }, error);
      return 'failed';
    }
  }

  #observed(touched: AdjustedWorkload, { identity: { pid }, value }: SeenProcess, member: AdjustedProcess | undefined): Drifted[] {
    const observed = member?.observe(value, touched.written) ?? 'same';
    if (observed !== 'same') this.#ledger.changed();
    return observed === 'drifted' ? [{ pid, value }] : [];
  }

  /** Logs a refused value and does not try it again. Throws on errors that are not the process's fault. */
  #writeTo(touched: AdjustedWorkload, member: AdjustedProcess, value: number): Observed {
    try {
      const observed = member.write(value, touched.written);
      if (observed !== 'same') this.#ledger.changed();
      return observed;
    } catch (error) {
      if (isShortage(error)) throw error;
      if (REFUSALS.has(errnoName(error) ?? '')) member.refused = value;
      this.#warnings.refused(member.pid, { workload: touched.name, from: member.now, to: value }, error);
      return 'same';
    }
  }
}

interface Drifted {
  readonly pid: number;
  readonly value: number | undefined;
}

function memberOf(touched: AdjustedWorkload, { identity: { pid, start } }: SeenProcess): AdjustedProcess | undefined {
  const member = touched.members.get(pid);
  return member?.start === start ? member : undefined;
}

const REFUSALS: ReadonlySet<string> = new Set(['EACCES', 'EPERM']);

function countOf(results: ReadonlyMap<AdjustedProcess, RestoreResult>, wanted: RestoreResult): number {
  return [...results.values()].filter((result) => result === wanted).length;
}
