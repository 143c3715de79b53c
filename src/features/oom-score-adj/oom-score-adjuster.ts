import { counted } from '../../core/quantity/amount.js';
import { oomScoreAdjsByRank, type OomPlace, type OomProcess } from '../../core/oom/oom-order.js';
import { qosOomScoreAdj } from './qos-score.js';
import { rank } from '../../core/rank/rank.js';
import type { Candidates, Workload } from '../../core/workload/workload.js';
import type { Log } from '../../log/log.js';
import type { OomScoreAdjTarget } from '../../core/oom/oom-score-adj-target.js';
import type { StepListener, StepReport, WorkloadSource } from '../../monitor/ports/ports.js';
import type { OomScoreAdj } from './process-adjuster.js';
import { NANO } from '../../core/quantity/integer.js';

export type OomScoreAdjMode = 'off' | 'qos' | 'rank';

export interface OomScoreAdjusterParts {
  readonly workloads: WorkloadSource;
  readonly adjuster: OomScoreAdj;
  /** The memory that oom_score_adj is thousandths of: what the kernel compares when the node is out of memory. */
  readonly totalBytes: () => bigint;
  /** The machine's memory, if the kernel compares that there. 0: the node's capacity. */
  readonly ramBytes: () => bigint;
  readonly log: Log;
}

/** The longest time that a slice of work delays a wake. */
const SLICE_NS = 1_000_000n;
/** How often in one tick processes are looked for that were forked while values were written. */
const ROUNDS = 8;

/**
 * Makes the kernel's OOM killer choose the workload that evictd would choose, in case the kernel is faster: writes
 * oom_score_adj at every tick. A tick only begins the work, which is done in slices between other events.
 */
export class OomScoreAdjuster implements StepListener {
  readonly #parts: OomScoreAdjusterParts;
  #mode: OomScoreAdjMode;
  #pass: Generator<void, void> | undefined;
  #values: ReadonlyMap<string, number> = new Map();
  #outOfPlace: ReadonlySet<string> = new Set();
  #failing = false;

  constructor(mode: OomScoreAdjMode, parts: OomScoreAdjusterParts) {
    this.#mode = mode;
    this.#parts = parts;
    this.#announce();
  }

  /** Sets the mode from the next tick on; `off` restores all values at once. */
  configure(mode: OomScoreAdjMode): void {
    if (mode === this.#mode) return;
    this.#mode = mode;
    this.#pass = undefined;
    this.#values = new Map();
    if (mode === 'off') this.restore();
    this.#announce();
  }

  stepped(report: StepReport): void {
    const { source } = report.wake;
    if (this.#mode === 'off' || this.#pass !== undefined) return;
    if (source !== 'start' && source !== 'tick' && source !== 'reload') return;
    const pass = this.#passOf(report);
    this.#pass = pass;
    setImmediate(() => this.#go(pass));
  }

  skipped(): boolean {
    return this.#mode === 'off';
  }

  close(): void {
    this.#pass = undefined;
    if (this.#mode !== 'off') this.restore();
    this.#mode = 'off';
  }

  restore(): void {
    const { processes, failed } = this.#parts.adjuster.restore();
    if (failed > 0) this.#parts.log.warn(`cannot restore oom_score_adj of ${counted(BigInt(failed), 'processes')}`);
    if (processes > 0) this.#parts.log.info(`restored oom_score_adj of ${counted(BigInt(processes), 'processes')}`);
  }

  #announce(): void {
    if (this.#mode === 'qos') this.#parts.log.info("oom_score_adj follows the workloads' QoS classes and requests");
    if (this.#mode === 'rank') this.#parts.log.info('oom_score_adj follows the order of eviction');
  }

  #go(pass: Generator<void, void>): void {
    const startNs = process.hrtime.bigint();
    while (this.#pass === pass) {
      if (this.#isAtEnd(pass)) {
        this.#pass = undefined;
      } else if (process.hrtime.bigint() - startNs >= SLICE_NS) {
        setImmediate(() => this.#go(pass));
        return;
      }
    }
  }

  /** Continues a pass. A pass that throws is over, and the next tick begins another. */
  #isAtEnd(pass: Generator<void, void>): boolean {
    try {
      const done = pass.next().done === true;
      if (done) this.#failing = false;
      return done;
    } catch (error) {
      if (!this.#failing) {
        this.#parts.log.warn(`cannot update oom_score_adj: ${String(error)} (tried again at every tick; logged once)`, {
          code: 'EVICTD_OOM_SCORE_ADJ_FAILED',
        });
      }
      this.#failing = true;
      return true;
    }
  }

  /** One pass over all workloads; yields where it may be interrupted. */
  *#passOf(report: StepReport): Generator<void, void> {
    const { adjuster, workloads } = this.#parts;
    const candidates = report.candidates.at(-1) ?? workloads.candidates();
    yield;
    const targets = this.#mode === 'rank' ? yield* this.#byRank(report, candidates) : yield* this.#byQos(report, candidates);
    if (targets === undefined) return;
    for (let round = 0; round < ROUNDS; round += 1) {
      if (!adjuster.keep(targets)) return;
      let arrived = false;
      for (const target of targets) {
        if (yield* adjuster.write(target)) arrived = true;
      }
      if (!arrived) break;
    }
    adjuster.restoreOthers(targets);
  }

  /** undefined: the capacity of memory is not known. */
  *#byQos(report: StepReport, candidates: Candidates): Generator<void, readonly OomScoreAdjTarget[] | undefined> {
    const observed = report.observations?.observed.get('memory.available')?.capacity;
    if (observed === undefined) return undefined;
    const capacity = this.#parts.ramBytes() || observed;
    const targets: OomScoreAdjTarget[] = [];
    for (const { workload } of candidates.usages) {
      if (isProtected(workload, candidates) || (yield* this.#parts.adjuster.look(workload)) === undefined) continue;
      const requestBytes = (workload.requests.memory + NANO - 1n) / NANO;
      targets.push({ workload, value: qosOomScoreAdj(workload.qosClass, requestBytes, capacity), atLeast: 'value' });
    }
    return targets;
  }

  *#byRank({ policy, state }: StepReport, candidates: Candidates): Generator<void, readonly OomScoreAdjTarget[]> {
    const places: (OomPlace & { readonly workload: Workload })[] = [];
    const others: OomProcess[] = [];
    for (const { workload } of rank('memory.available', state.layout ?? 'single', candidates.usages, policy.departures)) {
      if (isProtected(workload, candidates)) {
        others.push(...(yield* this.#parts.adjuster.measure(workload)));
      } else {
        const processes = yield* this.#parts.adjuster.look(workload);
        if (processes !== undefined) places.push({ id: workload.id, processes, workload });
      }
    }
    const { values, outOfPlace } = oomScoreAdjsByRank(places, this.#parts.totalBytes(), others, this.#values);
    this.#values = values;
    this.#logOutOfPlace(places.flatMap(({ id, workload }) => (outOfPlace.includes(id) ? workload : [])));
    return places.flatMap(({ id, workload }): OomScoreAdjTarget[] => {
      const value = values.get(id);
      return value === undefined ? [] : [{ workload, value, atLeast: 'found' }];
    });
  }

  #logOutOfPlace(workloads: readonly Workload[]): void {
    const fresh = workloads.filter(({ id }) => !this.#outOfPlace.has(id));
    this.#outOfPlace = new Set(workloads.map(({ id }) => id));
    if (fresh.length === 0) return;
    const names = fresh.slice(0, 3).map(({ name }) => name);
    const more = fresh.length > names.length ? ` and ${String(fresh.length - names.length)} more` : '';
    this.#parts.log.info(
      `the kernel would kill ${names.join(', ')}${more} earlier than evictd would evict it: evictd does not set oom_score_adj below the original value`,
    );
  }
}

function isProtected(workload: Workload, candidates: Candidates): boolean {
  const isPod = workload.pod !== undefined || workload.kubernetes !== undefined; // the kubelet sets it
  return isPod || workload.protection !== undefined || candidates.veto?.(workload) !== undefined;
}
