import type { CgroupHierarchy } from '../../core/cgroup.js';
import { UNKILLABLE } from '../../core/oom-badness.js';
import type { OomProcess } from '../../core/oom-order.js';
import type { Workload } from '../../core/workload.js';
import type { Log } from '../../log.js';
import type { GivenBack, OomScoreAdjTarget, OomScoreAdjuster } from '../../monitor/ports.js';
import type { Binding } from '../../native/binding.js';
import { OomScoreAdjComplaints } from './oom-score-adj-complaints.js';
import type { FoundFile } from './oom-score-adj-found.js';
import { Touched, type Known } from './oom-score-adj-known.js';
import { ProcessListing, type SeenProcess } from './oom-score-adj-listing.js';
import { withProcess, type HeldProcess } from './oom-score-adj-process.js';

/** Children that are forked while values are given back: looked for so often. */
const ROUNDS = 8;

/** oom_score_adj of processes in cgroups. Never of evictd itself, and never of one at −1000. */
export class OomScoreAdj implements OomScoreAdjuster {
  readonly #listing: ProcessListing;
  readonly #file: FoundFile;
  readonly #complaints: OomScoreAdjComplaints;
  readonly #touched = new Map<string, Touched>();
  /** The file does not say what is known. */
  #unsaved = false;

  constructor(native: Binding, hierarchy: CgroupHierarchy, file: FoundFile, log: Log) {
    this.#file = file;
    this.#complaints = new OomScoreAdjComplaints(log);
    this.#listing = new ProcessListing(native, hierarchy, this.#complaints);
  }

  /** Takes over what an evictd that did not end in order has left in the file. */
  takeOver(): void {
    try {
      const found = this.#file.load();
      this.#unsaved = found !== undefined;
      for (const stored of found ?? []) this.#touched.set(stored.id, Touched.stored(stored));
    } catch (error) {
      this.#complaints.unreadable(this.#file.path, error);
      this.#unsaved = true;
    }
  }

  *look(workload: Workload): Generator<void, readonly OomProcess[] | undefined> {
    const touched = this.#touched.get(workload.id) ?? Touched.of(workload);
    const pids = this.#listing.pids(touched);
    if (pids === undefined) return undefined;
    this.#touched.set(workload.id, touched);
    const seen = yield* this.#listing.seen(pids);
    const unknown = seen.filter((each) => !isKnown(touched, each));
    const listed = new Set(seen.map(({ identity }) => identity.pid));
    for (const pid of touched.members.keys()) if (!listed.has(pid)) this.#leftWorkload(touched, pid);
    const drifted = seen.filter((each) => isKnown(touched, each) && this.#hasDrifted(touched, each));
    this.#complaints.drifted(
      touched.name,
      drifted.map(({ identity, value }) => ({ pid: identity.pid, value })),
    );
    this.#admit(touched, unknown);
    return seen.flatMap(({ identity, sizeBytes }) => {
      const known = touched.members.get(identity.pid);
      return known === undefined || known.left ? [] : { foundAdj: known.found, sizeBytes };
    });
  }

  *measure({ id, path, startOrder }: Workload): Generator<void, readonly OomProcess[]> {
    const known = this.#touched.get(id)?.members;
    const pids = this.#listing.pids({ path, cgroupId: startOrder }) ?? [];
    const seen = yield* this.#listing.seen(pids);
    return seen.map(({ identity: { pid }, value, sizeBytes }) => ({ foundAdj: known?.get(pid)?.found ?? value, sizeBytes }));
  }

  keep(targets: readonly OomScoreAdjTarget[]): boolean {
    for (const target of targets) {
      const touched = this.#touched.get(target.workload.id);
      for (const known of touched?.members.values() ?? []) {
        const value = wanted(known, target);
        if (value === known.now || value === known.found || touched?.written.has(value) !== false) continue;
        touched.written.add(value);
        this.#unsaved = true;
      }
    }
    return this.#save();
  }

  *write(target: OomScoreAdjTarget): Generator<void, boolean> {
    const touched = this.#touched.get(target.workload.id);
    if (touched === undefined) return false;
    const drifted: { readonly pid: number; readonly value: number }[] = [];
    for (const known of touched.members.values()) {
      const value = wanted(known, target);
      if (known.left || known.now === value || known.refused === value) continue;
      const changed = this.#writeTo(touched, known, value);
      if (changed !== undefined) drifted.push({ pid: known.pid, value: changed });
      yield;
    }
    this.#complaints.drifted(touched.name, drifted);
    const arrived = yield* this.#listing.seen(this.#newPids(touched));
    return this.#admit(touched, arrived) > 0;
  }

  giveBackOthers(targets: readonly OomScoreAdjTarget[]): void {
    const ids = new Set(targets.map(({ workload }) => workload.id));
    for (const touched of this.#touched.values()) if (!ids.has(touched.id)) this.#release(touched);
    this.#save();
  }

  giveBack(): GivenBack {
    let [processes, failed] = [0, 0];
    for (const touched of this.#touched.values()) {
      const given = this.#release(touched);
      processes += given.processes;
      failed += given.failed;
    }
    this.#save();
    return { processes, failed };
  }

  /**
   * Processes that were seen for the first time. They are members if they are still listed: the number was theirs before and is after. One that has a
   * value of evictd's is the child of one to which it was written.
   */
  #admit(touched: Touched, unknown: readonly SeenProcess[]): number {
    if (unknown.length === 0) return 0;
    const listed = new Set(this.#listing.pids(touched));
    let admitted = 0;
    for (const { identity, value } of unknown) {
      const { pid, start, parent } = identity;
      if (!listed.has(pid) || value === UNKILLABLE) continue;
      const from = this.#touchedWith(pid);
      const moved = from?.members.get(pid);
      if (moved?.start === start) {
        from?.members.delete(pid);
        touched.adopt(moved);
      } else {
        const kin = this.#touchedWith(parent)?.members.get(parent);
        const heirOf = kin?.now === value ? kin : undefined;
        const left = heirOf?.left === true;
        const ours = !left && (touched.written.has(value) || heirOf?.ours === true);
        if (ours) touched.written.add(value);
        touched.add({ pid, start, found: ours ? (kin?.found ?? touched.found) : value, now: value, ours, left, refused: undefined });
      }
      this.#unsaved = true;
      admitted += 1;
    }
    return admitted;
  }

  #newPids(touched: Touched): readonly number[] {
    return (this.#listing.pids(touched) ?? []).filter((pid) => !touched.members.has(pid));
  }

  #touchedWith(pid: number): Touched | undefined {
    for (const touched of this.#touched.values()) if (touched.members.has(pid)) return touched;
    return undefined;
  }

  /** Whether evictd's value was changed. What was found before evictd wrote may change as it likes. */
  #hasDrifted(touched: Touched, { identity: { pid }, value }: SeenProcess): boolean {
    const known = touched.members.get(pid);
    if (known === undefined || value === known.now) return false;
    const drifted = known.ours && !known.left;
    if (!known.ours) known.found = value;
    known.left ||= drifted || value === UNKILLABLE;
    known.now = value;
    this.#unsaved = true;
    return drifted;
  }

  /** Returns the value of a process that somebody else has changed since it was seen. */
  #writeTo(touched: Touched, known: Known, value: number): number | undefined {
    try {
      return withProcess(known.pid, (held) => {
        if (held.identity.start !== known.start) return undefined;
        const current = held.value();
        // Processes that share their memory have one value: it may be there already.
        if (current !== value && current !== known.now) {
          const drifted = known.ours;
          if (!known.ours) known.found = current;
          known.left = drifted || current === UNKILLABLE;
          known.now = current;
          this.#unsaved = true;
          return drifted ? current : undefined;
        }
        if (current !== value) held.write(value);
        known.now = value;
        known.ours = value !== known.found;
        return undefined;
      });
    } catch (error) {
      known.refused = value;
      this.#complaints.refused(known.pid, { workload: touched.name, from: known.now, to: value }, error);
      return undefined;
    }
  }

  /** It has ended, or lives elsewhere now: then it gets back what was found. */
  #leftWorkload(touched: Touched, pid: number): void {
    const known = touched.members.get(pid);
    if (known !== undefined && this.#giveBackTo(touched, known) === 'failed') return;
    touched.members.delete(pid);
    this.#unsaved = true;
  }

  /** Gives back to all of a workload, and to the children that it has had meanwhile. */
  #release(touched: Touched): GivenBack {
    const results = new Map<Known, 'given' | 'left' | 'nothing' | 'failed'>();
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const known of touched.members.values()) if (!results.has(known)) results.set(known, this.#giveBackTo(touched, known));
      const children = this.#listing.see(this.#newPids(touched));
      const heirs = children.filter(({ value }) => touched.written.has(value));
      if (this.#admit(touched, heirs) === 0) break;
    }
    const failed = [...results].filter(([, result]) => result === 'failed').length;
    if (failed === 0) this.#touched.delete(touched.id);
    else for (const [{ pid }, result] of results) if (result === 'given' || result === 'nothing') touched.members.delete(pid);
    this.#unsaved = true;
    return { processes: [...results.values()].filter((result) => result === 'given').length, failed };
  }

  #giveBackTo(touched: Touched, known: Known): 'given' | 'left' | 'nothing' | 'failed' {
    if (known.left) return 'left';
    if (!known.ours) return 'nothing';
    try {
      const given = withProcess(known.pid, (held) => giveBack(held, touched, known));
      return given ?? 'nothing';
    } catch (error) {
      this.#complaints.refused(known.pid, { workload: touched.name, from: known.now, to: known.found }, error);
      return 'failed';
    }
  }

  #save(): boolean {
    if (!this.#unsaved) return true;
    try {
      const stored = [...this.#touched.values()].flatMap((touched) => touched.stored ?? []);
      if (stored.length > 0) this.#file.save(stored);
      else this.#file.remove();
      this.#unsaved = false;
      this.#complaints.kept();
      return true;
    } catch (error) {
      this.#complaints.notKept(this.#file.path, error);
      return false;
    }
  }
}

function isKnown(touched: Touched, { identity: { pid, start } }: SeenProcess): boolean {
  return touched.members.get(pid)?.start === start;
}

function wanted({ found }: Known, { value, atLeast }: OomScoreAdjTarget): number {
  return atLeast === 'found' ? Math.max(found, value) : value;
}

function giveBack(held: HeldProcess, touched: Touched, known: Known): 'given' | 'nothing' {
  if (held.identity.start !== known.start) return 'nothing';
  const current = held.value();
  known.now = current;
  if (current === known.found || !touched.written.has(current)) return 'nothing';
  held.write(known.found);
  known.now = known.found;
  return 'given';
}
