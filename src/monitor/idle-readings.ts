import type { Observations } from '../core/signal/observation.js';
import type { Policy } from '../core/decide/state.js';
import type { Node } from './ports/ports.js';
import type { Rehearsal } from './rehearsal.js';
import type { Reporter } from './reporter.js';

/** The time without a decision after which the caches are cold. */
const COLD_NS = 200_000_000n;
/** A client of the metrics gets a reading that is no older. */
const OLD_NS = 1_000_000_000n;

interface IdleReadingsParts {
  readonly node: Pick<Node, 'read' | 'stalls'>;
  readonly reporter: Pick<Reporter, 'renewed'>;
}

/** Readings of the node between passes. They decide nothing. */
export class IdleReadings {
  /** When the decision was last rehearsed. */
  #warmNs = 0n;
  #readNs = 0n;

  constructor(
    private readonly parts: IdleReadingsParts,
    private readonly rehearsal: Pick<Rehearsal, 'warmUp'>,
  ) {}

  /** A pass reads now. */
  passed(nowNs: bigint): void {
    this.#readNs = nowNs;
  }

  /**
   * Reads and decides as a pass does, and drops it: after a second the caches are cold, and a decision takes two to three
   * times as long. At most once in COLD_NS, or a value that swings before its limit would keep the loop busy.
   *
   * @param isNeeded  whatever the time of the last one
   * @returns what was read; undefined: nothing, the last one is too recent
   */
  warmUp(policy: Policy, isNeeded: boolean): Observations | undefined {
    const nowNs = process.hrtime.bigint();
    if (nowNs - this.#warmNs < COLD_NS && !isNeeded) return undefined;
    this.#warmNs = nowNs;
    const observations = this.parts.node.read();
    if (policy.hasWorkloadSource) this.rehearsal.warmUp(policy);
    return observations;
  }

  /** Renews the reading for a client of the metrics. */
  renew(): void {
    const { node, reporter } = this.parts;
    const nowNs = process.hrtime.bigint();
    const isOld = nowNs - this.#readNs >= OLD_NS;
    if (isOld) this.#readNs = nowNs;
    reporter.renewed(node.stalls?.() ?? [], isOld ? node.read() : undefined);
  }
}
