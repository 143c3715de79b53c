import type { CgroupHierarchy } from '../../core/workload/cgroup.js';
import type { OomProcess } from '../../core/oom/oom-order.js';
import type { Workload } from '../../core/workload/workload.js';
import { isShortage, errnoName } from '../../errors.js';
import type { Log } from '../../log/log.js';
import type { OomScoreAdjTarget } from '../../core/oom/oom-score-adj-target.js';
import type { RestoredOomScoreAdj, OomScoreAdjWriter } from '../../monitor/ports/ports.js';
import type { Binding } from '../../native/binding.js';
import { NewProcesses } from './new-processes.js';
import { OomScoreAdjWarnings } from './adjustment-errors.js';
import type { FoundFile } from './original-values-file.js';
import { Restorer } from './value-restoration.js';
import { Ledger } from './adjustment-ledger.js';
import { ProcessListing, type SeenProcess } from './process-listing.js';
import type { AdjustedProcess, Observed } from './adjusted-process.js';
import type { AdjustedWorkload } from './adjusted-workload.js';

/** oom_score_adj of the processes in cgroups. Never changes evictd's own value, nor one of −1000. */
export class OomScoreAdj implements OomScoreAdjWriter {
  readonly #warnings: OomScoreAdjWarnings;
  readonly #ledger: Ledger;
  readonly #listing: ProcessListing;
  readonly #newProcesses: NewProcesses;
  readonly #restorer: Restorer;

  constructor(native: Binding, hierarchy: CgroupHierarchy, file: FoundFile, log: Log) {
    const complaints = new OomScoreAdjWarnings(log);
    const ledger = new Ledger(file, complaints);
    const listing = new ProcessListing(native, hierarchy, complaints);
    const arrivals = new NewProcesses(ledger, listing);
    this.#warnings = complaints;
    this.#ledger = ledger;
    this.#listing = listing;
    this.#newProcesses = arrivals;
    this.#restorer = new Restorer({ ledger, listing, arrivals, complaints });
  }

  /** Restores the state from the file of an evictd that was killed. */
  takeOver(): void {
    this.#ledger.takeOver();
  }

  *look(workload: Workload): Generator<void, readonly OomProcess[] | undefined> {
    const pids = this.#listing.pids({ path: workload.path, cgroupId: workload.startOrder });
    if (pids === undefined) return undefined;
    const touched = this.#ledger.open(workload);
    const seen = yield* this.#listing.seen(pids);
    const unknown = seen.filter((each) => memberOf(touched, each) === undefined);
    const listed = new Set(seen.map(({ identity }) => identity.pid));
    for (const member of touched.members.values()) if (!listed.has(member.pid)) this.#restorer.restoreOne(touched, member);
    const drifted = seen.flatMap((each) => this.#observed(touched, each, memberOf(touched, each)));
    this.#warnings.drifted(touched.name, drifted);
    this.#newProcesses.admit(touched, unknown);
    return seen.flatMap(({ identity, sizeBytes }) => {
      const member = touched.members.get(identity.pid);
      return member === undefined || member.left ? [] : { foundAdj: member.found, sizeBytes };
    });
  }

  *measure({ id, path, startOrder }: Workload): Generator<void, readonly OomProcess[]> {
    const known = this.#ledger.get(id)?.members;
    const pids = this.#listing.pids({ path, cgroupId: startOrder }) ?? [];
    const seen = yield* this.#listing.seen(pids);
    return seen.map(({ identity: { pid }, value, sizeBytes }) => ({ foundAdj: known?.get(pid)?.found ?? value, sizeBytes }));
  }

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
    const arrived = yield* this.#listing.seen(this.#newProcesses.pids(touched));
    return this.#newProcesses.admit(touched, arrived) > 0;
  }

  restoreOthers(targets: readonly OomScoreAdjTarget[]): void {
    const ids = new Set(targets.map(({ workload }) => workload.id));
    for (const touched of this.#ledger.all()) if (!ids.has(touched.id)) this.#restorer.restoreAll(touched);
    this.#ledger.save();
  }

  restore(): RestoredOomScoreAdj {
    let [processes, failed] = [0, 0];
    for (const touched of this.#ledger.all()) {
      const given = this.#restorer.restoreAll(touched);
      processes += given.processes;
      failed += given.failed;
    }
    this.#ledger.save();
    return { processes, failed };
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
      if (isRefusal(error)) member.refused = value;
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

function isRefusal(error: unknown): boolean {
  return REFUSALS.has(errnoName(error) ?? '');
}

const REFUSALS: ReadonlySet<string> = new Set(['EACCES', 'EPERM']);
