import { withDisks } from '../../core/rank/candidate-usages.js';
import type { DiskHoldings } from '../../core/disk/disk-amount.js';
import type { EvictionInFlight } from '../../core/decide/eviction.js';
import { relieved } from '../../core/reclaim/eviction-yield.js';
import type { FilesystemRole } from '../../core/signal/layout.js';
import { isDiskSignal, filesystemOf } from '../../core/signal/signal.js';
import { limitOf, operandsOf } from '../../core/threshold/threshold.js';
import type { SourceProblem, StepListener, StepReport, WorkloadSource } from '../../monitor/ports/ports.js';
import { forRoles, MEASURING, type DiskMeasurement } from '../../workloads/disk/disk-measurement.js';

interface DiskWatchParts {
  readonly measure: () => Promise<DiskMeasurement>;
  /** New results should lead to a pass that reads the filesystems. */
  readonly onNews: () => void;
}

/** A disk is near a threshold below this multiple of it. */
const NEAR = 2n;
/** The shortest interval while a threshold is met or near, and the largest share of the time that measuring may take. */
const MET_NS = 5_000_000_000n;
const NEAR_NS = 60_000_000_000n;
const MET_PART = 20n;
const NEAR_PART = 100n;
/** Interval of passes while evictd waits for a victim's space. */
const ASKED_NS = 20_000_000n;
/** The age up to which a measurement counts, unless measuring takes longer. */
const FRESH_NS = 30_000_000_000n;

/** Measures in the background what workloads hold on disks, only while a threshold is near or met. */
export class DiskWatch implements StepListener {
  #last: DiskMeasurement | undefined;
  #beganNs: bigint | undefined;
  #measuring = false;
  /** The error of the last measurement. */
  #failure: SourceProblem | undefined;
  /**
   * The last time at which a victim was ending for a disk, or ended for another resource: older measurements may
   * include it, or a workload that now has the name of another one.
   */
  #lastEndingNs = 0n;
  #requestedNs = 0n;
  /** Serials of evictions for other resources whose victims lived at the last step. */
  #others: ReadonlySet<number> = new Set();
  /** Disk thresholds that are met, by id, and since when. */
  #short: ReadonlyMap<string, { readonly role: FilesystemRole; readonly sinceNs: bigint }> = new Map();
  /** A threshold is near or met. */
  #isNear = false;
  #closed = false;

  constructor(private readonly parts: DiskWatchParts) {}

  /** Adds the holdings on disks to the candidates. */
  on(source: WorkloadSource): WorkloadSource {
    return {
      candidates: (reading) => withDisks(source.candidates(reading), this.#holdings(), this.#last?.holders),
      refresh: () => {
        source.refresh();
      },
      version: () => source.version?.(),
      holding: (cgroup) => source.holding(cgroup),
      problems: () => [...source.problems(), ...(this.#last?.problems ?? []), ...(this.#failure ? [this.#failure] : [])],
      close: () => {
        source.close();
      },
    };
  }

  stepped(report: StepReport): void {
    const { nowNs } = report.input;
    const { evictions } = report.state;
    const isGoing = evictions.some(endsForDisk);
    const others = new Set(
      evictions.filter((one) => !endsForDisk(one) && one.exitedSinceNs === undefined).map(({ decision }) => decision.serial),
    );
    if (isGoing || [...this.#others].some((serial) => !others.has(serial))) this.#lastEndingNs = nowNs;
    this.#others = others;
    if (evictions.some(({ exitedSinceNs }) => exitedSinceNs !== undefined) && nowNs - this.#requestedNs >= ASKED_NS) {
      this.#requestedNs = nowNs;
      this.parts.onNews();
    }
    this.#short = new Map(
      [...report.state.episodes].flatMap(([id, { signal }]) => {
        const role = filesystemOf(signal);
        return role === undefined ? [] : [[id, { role, sinceNs: this.#short.get(id)?.sinceNs ?? nowNs }]];
      }),
    );
    const wanted = measuringInterval(report);
    this.#isNear = wanted !== undefined;
    if (wanted === undefined || this.#measuring || this.#closed || isGoing) return;
    const tookNs = this.#last ? this.#last.endedNs - this.#last.beganNs : 0n;
    const restNs = tookNs * wanted.part > wanted.periodNs ? tookNs * wanted.part : wanted.periodNs;
    if (this.#beganNs === undefined || this.#beganNs <= this.#lastEndingNs || nowNs - this.#beganNs >= restNs) void this.#measure(nowNs);
  }

  skipped(): boolean {
    return !this.#isNear;
  }

  /** The filesystems have changed: discards past and running measurements. */
  forget(): void {
    this.#lastEndingNs = process.hrtime.bigint();
  }

  close(): void {
    this.#closed = true;
  }

  /** Never rejects. */
  async #measure(nowNs: bigint): Promise<void> {
    this.#measuring = true;
    this.#beganNs = nowNs;
    try {
      this.#last = await this.parts.measure();
      this.#failure = undefined;
    } catch (error) {
      this.#failure = { code: 'EVICTD_DISK_UNMEASURED', message: `cannot measure the disk usage of workloads: ${String(error)}` };
    }
    this.#measuring = false;
    if (!this.#closed) this.parts.onNews();
  }

  /** Disk use by path. Decides once per pass whether the measurement still counts. */
  #holdings(): (path: string) => DiskHoldings {
    const last = this.#last;
    if (last !== undefined && last.beganNs > this.#lastEndingNs) {
      const tookNs = last.endedNs - last.beganNs;
      const nowNs = process.hrtime.bigint();
      const ageNs = nowNs - last.beganNs;
      const shortSince = forRoles((role) => this.#shortSinceNs(role) ?? nowNs);
      if (ageNs <= (3n * tookNs > FRESH_NS ? 3n * tookNs : FRESH_NS)) return (path) => last.of(path, shortSince);
    }
    return this.#failure ? nothingKnown : measuring;
  }

  /** When the newest threshold was met: an older one does not cover files written since. */
  #shortSinceNs(of: FilesystemRole): bigint | undefined {
    return newest([...this.#short.values()].filter(({ role }) => role === of));
  }
}

function newest(short: readonly { readonly sinceNs: bigint }[]): bigint | undefined {
  return short.reduce<bigint | undefined>((last, { sinceNs }) => (last === undefined || sinceNs > last ? sinceNs : last), undefined);
}

const nothingKnown = (): DiskHoldings => ({});
const measuring = (): DiskHoldings => MEASURING;

/** A victim in its grace period still holds its files. */
function endsForDisk({ decision, phase, exitedSinceNs }: EvictionInFlight): boolean {
  if (phase === 'terminating' && exitedSinceNs === undefined) return false;
  return relieved(decision).some((resource) => resource === 'ephemeral-storage' || resource === 'inodes');
}

/** How often to measure; undefined: not at all. */
function measuringInterval(report: StepReport): { readonly periodNs: bigint; readonly part: bigint } | undefined {
  const { policy, observations } = report;
  const operands = policy.thresholds.flatMap(operandsOf).filter(({ signal }) => isDiskSignal(signal));
  if (operands.length === 0 || !policy.hasWorkloadSource) return undefined;
  if ([...report.state.episodes.values()].some(({ signal }) => isDiskSignal(signal))) return { periodNs: MET_NS, part: MET_PART };
  const isNear = operands.some((operand) => {
    const observation = observations?.observed.get(operand.signal);
    return (
      observation !== undefined &&
      observation.available < NEAR * limitOf({ ...operand, minReclaim: undefined }, observation.capacity, false)
    );
  });
  return isNear ? { periodNs: NEAR_NS, part: NEAR_PART } : undefined;
}
