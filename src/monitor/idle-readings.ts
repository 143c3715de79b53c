import type { Observations } from '../core/signal/observation.js';
import type { Policy } from '../core/decide/state.js';
import type { Node } from './ports/ports.js';
import type { Rehearsal } from './rehearsal.js';
import type { Reporter } from './reporter.js';

/** The time without a decision after which the caches are cold. */
const COLD_NS = 200_000_000n;
/** A value that swings before its limit must not keep the loop busy. */
const SWING_NS = 20_000_000n;
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
  /** When the last approach of a value to its limit had been handled. */
  #approachNs = 0n;
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
   * Reads the node when a value comes near to its limit, and hands the reading over.
   *
   * @param isNeeded  whatever the time of the last one
   */
  approached(isNeeded: boolean, handle: (observations: Observations, nowNs: bigint) => void): void {
    const nowNs = process.hrtime.bigint();
    if (nowNs - this.#approachNs < SWING_NS && !isNeeded) return;
    handle(this.parts.node.read(), nowNs);
    this.#approachNs = process.hrtime.bigint();
  }

  /** Decides as a pass does, and drops it: from cold caches a decision takes two to three times as long. */
  warmUp(policy: Policy, nowNs: bigint): void {
    if (nowNs - this.#warmNs < COLD_NS || !policy.hasWorkloadSource) return;
    this.#warmNs = nowNs;
    this.rehearsal.warmUp(policy);
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
