import type { Decision } from '../../core/decide/eviction.js';
import type { VictimProcess, VictimProcesses } from '../../core/oom/victim-process.js';
import { isUrgent } from '../../core/rank/eviction-cause.js';
import type { Workload } from '../../core/workload/workload.js';
import type { CgroupHierarchy } from '../../core/workload/cgroup.js';
import { selectHost } from '../../host/select.js';
import type { ProcessReader, ProcessRecords } from '../../monitor/ports/process-records.js';
import { native } from '../../native/index.js';

/** Compared where other events are handled in between, and where they are not. */
const COMPARED = 256;
const COMPARED_AT_ONCE = 32;
/** The longest time that a reading delays a wake. */
const SLICE_NS = 300_000n;
/** The age from which on a reading says little about a workload that grows. */
const FRESH_NS = 10_000_000_000n;

interface Known {
  readonly processes: readonly VictimProcess[];
  readonly atNs: bigint;
}

/** undefined: processes cannot be read here. */
export function openProcessRecords(hierarchy: CgroupHierarchy | undefined): ProcessRecords | undefined {
  const reader = hierarchy && selectHost().openWorkloadProcesses?.(native, hierarchy);
  return reader && new ReadProcesses(reader);
}

export class ReadProcesses implements ProcessRecords {
  /** Known processes by workload id. */
  readonly #known = new Map<string, Known>();
  /** The processes that were read after the signal, by number of the decision. */
  readonly #left = new Map<number, readonly VictimProcess[]>();
  readonly #recorded = new Set<number>();
  #look: Generator<void> | undefined;

  constructor(private readonly reader: ProcessReader) {}

  expect(workloads: readonly Workload[]): void {
    const look = this.#lookAt(workloads);
    this.#look = look;
    setImmediate(() => this.#go(look));
  }

  decided(decision: Decision): VictimProcesses | undefined {
    const { workload, process: only } = decision.victim;
    if (only !== undefined) return undefined; // the record's victim names it
    if (decision.dryRun || !isUrgent(decision.cause, decision.graceNs)) this.#known.set(workload.id, this.#now(workload));
    const known = this.#known.get(workload.id);
    const age = decision.decidedAtNs - (known?.atNs ?? 0n);
    if (known === undefined || known.processes.length === 0 || age > FRESH_NS) return undefined;
    if (!decision.dryRun) this.#recorded.add(decision.serial);
    return { processes: known.processes, processesSecondsBefore: age < 0n ? 0 : Number(age / 1_000_000n) / 1e3 };
  }

  signalled({ serial, victim: { workload, process: only } }: Decision): void {
    if (only === undefined && !this.#recorded.has(serial)) this.#left.set(serial, this.#now(workload).processes);
  }

  ended({ serial }: Decision): readonly VictimProcess[] | undefined {
    const left = this.#left.get(serial);
    this.#left.delete(serial);
    this.#recorded.delete(serial);
    return left?.length === 0 ? undefined : left;
  }

  #now(workload: Workload): Known {
    const reading = this.reader.read(workload, COMPARED_AT_ONCE);
    for (;;) {
      const step = reading.next();
      if (step.done === true) return { processes: step.value, atNs: process.hrtime.bigint() };
    }
  }

  *#lookAt(workloads: readonly Workload[]): Generator<void> {
    const ids = new Set(workloads.map(({ id }) => id));
    for (const id of this.#known.keys()) if (!ids.has(id)) this.#known.delete(id);
    for (const workload of workloads) {
      const processes = yield* this.reader.read(workload, COMPARED);
      this.#known.set(workload.id, { processes, atNs: process.hrtime.bigint() });
    }
  }

  #go(look: Generator<void>): void {
    const untilNs = process.hrtime.bigint() + SLICE_NS;
    while (this.#look === look) {
      if (look.next().done === true) this.#look = undefined;
      else if (process.hrtime.bigint() >= untilNs) {
        setImmediate(() => this.#go(look));
        return;
      }
    }
  }
}
