import { withDisks } from '../core/usages.js';
import type { DiskHoldings } from '../core/disk-amount.js';
import type { EvictionInFlight } from '../core/eviction.js';
import { relieved } from '../core/eviction-yield.js';
import type { FilesystemRole } from '../core/layout.js';
import { isDiskSignal, filesystemOf } from '../core/signal.js';
import { limitOf, operandsOf } from '../core/threshold.js';
import type { SourceProblem, StepListener, StepReport, WorkloadSource } from '../monitor/ports.js';
import { forRoles, MEASURING, type DiskMeasurement } from './disk-measurement.js';

export interface DiskWatchParts {
  readonly measure: () => Promise<DiskMeasurement>;
  /** Something that decides over a disk is known anew: a pass should follow that reads the filesystems. */
  readonly onNews: () => void;
}

/** Measured when a disk comes so near to a threshold, in multiples of it. */
const NEAR = 2n;
/** While one is met, and while it is near: not more often than this, and never for more than this part of the time. */
const MET_NS = 5_000_000_000n;
const NEAR_NS = 60_000_000_000n;
const MET_PART = 20n;
const NEAR_PART = 100n;
/** While it is awaited what a victim's end has given back: its filesystem is not asked more often. */
const ASKED_NS = 20_000_000n;
/** Older ones decide nothing, unless it takes longer to measure. */
const FRESH_NS = 30_000_000_000n;

/** What workloads hold on disks, measured in the background: when a threshold is near or met, and otherwise not at all. */
export class DiskWatch implements StepListener {
  readonly #parts: DiskWatchParts;
  #last: DiskMeasurement | undefined;
  #beganNs: bigint | undefined;
  #measuring = false;
  /** Why the last one came to nothing. */
  #failure: SourceProblem | undefined;
  /** When somebody was last on his way out for a disk, or went for something else: what was measured before may be gone, or be that of another one by the same name. */
  #leavingNs = 0n;
  #askedNs = 0n;
  /** Serials of the other evictions in flight whose victims were still there at the last step. */
  #others: ReadonlySet<number> = new Set();
  /** By threshold id: which one is short, and since when, as the last step has seen. */
  #short: ReadonlyMap<string, { readonly role: FilesystemRole; readonly sinceNs: bigint }> = new Map();
  #closed = false;

  constructor(parts: DiskWatchParts) {
    this.#parts = parts;
  }

  /** A source whose workloads have what they hold on disks. */
  on(source: WorkloadSource): WorkloadSource {
    return {
      candidates: () => withDisks(source.candidates(), this.#holdings(), this.#last?.holders),
      refresh: () => {
        source.refresh();
      },
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
      evictions.filter((one) => !endsForDisk(one) && one.goneSinceNs === undefined).map(({ decision }) => decision.serial),
    );
    if (isGoing || [...this.#others].some((serial) => !others.has(serial))) this.#leavingNs = nowNs;
    this.#others = others;
    if (evictions.some(({ goneSinceNs }) => goneSinceNs !== undefined) && nowNs - this.#askedNs >= ASKED_NS) {
      this.#askedNs = nowNs;
      this.#parts.onNews();
    }
    this.#short = new Map(
      [...report.state.episodes].flatMap(([id, { signal }]) => {
        const role = filesystemOf(signal);
        return role === undefined ? [] : [[id, { role, sinceNs: this.#short.get(id)?.sinceNs ?? nowNs }]];
      }),
    );
    const wanted = pace(report);
    if (wanted === undefined || this.#measuring || this.#closed || isGoing) return;
    const tookNs = this.#last ? this.#last.endedNs - this.#last.beganNs : 0n;
    const restNs = tookNs * wanted.part > wanted.periodNs ? tookNs * wanted.part : wanted.periodNs;
    if (this.#beganNs === undefined || this.#beganNs <= this.#leavingNs || nowNs - this.#beganNs >= restNs) void this.#measure(nowNs);
  }

  /** The filesystems are others: what was measured, and what is being measured, decides nothing. */
  forget(): void {
    this.#leavingNs = process.hrtime.bigint();
  }

  close(): void {
    this.#closed = true;
  }

  /** Never rejects. */
  async #measure(nowNs: bigint): Promise<void> {
    this.#measuring = true;
    this.#beganNs = nowNs;
    try {
      this.#last = await this.#parts.measure();
      this.#failure = undefined;
    } catch (error) {
      this.#failure = { code: 'EVICTD_DISK_UNMEASURED', message: `what workloads hold on disks is not known: ${String(error)}` };
    }
    this.#measuring = false;
    if (!this.#closed) this.#parts.onNews();
  }

  /** By path; whether what was measured still counts is decided once for a pass. */
  #holdings(): (path: string) => DiskHoldings {
    const last = this.#last;
    if (last !== undefined && last.beganNs > this.#leavingNs) {
      const tookNs = last.endedNs - last.beganNs;
      const nowNs = process.hrtime.bigint();
      const ageNs = nowNs - last.beganNs;
      const shortSince = forRoles((role) => this.#shortSinceNs(role) ?? nowNs);
      if (ageNs <= (3n * tookNs > FRESH_NS ? 3n * tookNs : FRESH_NS)) return (path) => last.of(path, shortSince);
    }
    return this.#failure ? nothingKnown : measuring;
  }

  /** By its newest threshold: one that is met for long says nothing of what was written before the next one was. */
  #shortSinceNs(of: FilesystemRole): bigint | undefined {
    return newest([...this.#short.values()].filter(({ role }) => role === of));
  }
}

function newest(short: readonly { readonly sinceNs: bigint }[]): bigint | undefined {
  return short.reduce<bigint | undefined>((last, { sinceNs }) => (last === undefined || sinceNs > last ? sinceNs : last), undefined);
}

const nothingKnown = (): DiskHoldings => ({});
const measuring = (): DiskHoldings => MEASURING;

/** Who still has his grace is there, and holds what he holds. */
function endsForDisk({ decision, phase, goneSinceNs }: EvictionInFlight): boolean {
  if (phase === 'terminating' && goneSinceNs === undefined) return false;
  return relieved(decision).some((resource) => resource === 'ephemeral-storage' || resource === 'inodes');
}

/** How often to measure now; undefined: not at all. */
function pace(report: StepReport): { readonly periodNs: bigint; readonly part: bigint } | undefined {
  const { policy, observations } = report;
  const operands = policy.thresholds.flatMap(operandsOf).filter(({ signal }) => isDiskSignal(signal));
  if (operands.length === 0 || !policy.hasWorkloadSource) return undefined;
  if (isMet(report)) return { periodNs: MET_NS, part: MET_PART };
  const isNear = operands.some((operand) => {
    const observation = observations?.observed.get(operand.signal);
    return (
      observation !== undefined &&
      observation.available < NEAR * limitOf({ ...operand, minReclaim: undefined }, observation.capacity, false)
    );
  });
  return isNear ? { periodNs: NEAR_NS, part: NEAR_PART } : undefined;
}

function isMet({ state }: StepReport): boolean {
  return [...state.episodes.values()].some(({ signal }) => isDiskSignal(signal));
}
