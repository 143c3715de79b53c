import { answerText, type ApiAnswer } from '../../core/kubernetes/eviction-answer.js';
import { conditionPatch } from '../../core/kubernetes/node-condition-patch.js';
import { nodePath, taintPatch } from '../../core/kubernetes/node-taint-patch.js';
import type { ApiCall } from '../../core/kubernetes/pod-call.js';
import type { Taint } from '../../core/disruption/taint.js';
import type { ConditionType } from '../../core/signal/signal.js';
import type { Log } from '../../log/log.js';
import type { StepListener } from '../../monitor/ports/ports.js';
import { randomPauseMs, type Ask } from './owed-queue.js';

export interface NodeReportParts {
  readonly ask: Ask;
  readonly nodeName: string;
  readonly taint: Taint | undefined;
  readonly conditions: 'own' | 'kubelet' | 'none';
  readonly log: Pick<Log, 'info' | 'warn'>;
  /** Left out: random. Tests wait less. */
  readonly pauseMs?: (failures: number) => number;
}

const WITHIN_MS = 10_000;
/** As the kubelet reports a status that has not changed (nodeStatusReportFrequency). */
const HEARTBEAT_NS = 300_000_000_000n;
const HINT = 'evictd doctor names permissions that are missing';
/** An eviction does not wait longer for the taint. */
const TAINTED_WITHIN_MS = 1_000;

/** Publishes the conditions of the node at the API server, and its taint while it has memory pressure. */
export class NodeReport implements StepListener {
  readonly #parts: NodeReportParts;
  #wanted: readonly ConditionType[] | undefined;
  #reportedNs = 0n;
  #running: Promise<void> | undefined;
  #failures = 0;
  /** Patches without permission that were logged. */
  readonly #forbidden = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(parts: NodeReportParts) {
    this.#parts = parts;
  }

  stepped({ state: { conditions }, input: { nowNs } }: Pick<Parameters<StepListener['stepped']>[0], 'state' | 'input'>): void {
    if (conditions.join() !== this.#wanted?.join()) {
      this.#wanted = conditions;
      this.#report(nowNs);
    } else {
      this.skipped(nowNs);
    }
  }

  skipped(nowNs: bigint): boolean {
    if (this.#wanted !== undefined && nowNs - this.#reportedNs >= HEARTBEAT_NS) this.#report(nowNs);
    return true;
  }

  /** Resolves when the taint is as it should be, within {@link TAINTED_WITHIN_MS}. */
  async tainted(): Promise<void> {
    if (this.#running === undefined) return;
    const limit = AbortSignal.timeout(TAINTED_WITHIN_MS);
    const late = new Promise<void>((resolve) => {
      limit.addEventListener('abort', () => {
        resolve();
      });
    });
    await Promise.race([this.#running, late]);
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  #report(nowNs: bigint): void {
    this.#reportedNs = nowNs;
    clearTimeout(this.#timer);
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
  }

  async #run(): Promise<void> {
    let wanted: readonly ConditionType[] | undefined;
    while (wanted !== this.#wanted && !this.#isClosed) {
      wanted = this.#wanted;
      const why = await this.#publish(wanted ?? []).catch((error: unknown) => (error instanceof Error ? error.message : String(error)));
      if (why === 'conflict') wanted = undefined;
      else if (why !== undefined) {
        this.#failed(why);
        return;
      }
    }
    if (this.#failures > 0) this.#parts.log.info('the API server accepts the conditions of the node again');
    this.#failures = 0;
  }

  #failed(why: string): void {
    const { log, pauseMs = randomPauseMs } = this.#parts;
    if (this.#isClosed) return;
    this.#failures += 1;
    if (this.#failures === 1) {
      log.warn(`cannot publish the conditions of the node at the API server: ${why}; evictd tries again`, {
        code: 'EVICTD_KUBERNETES_NODE',
        hint: HINT,
      });
    }
    this.#timer = setTimeout(() => {
      this.#report(this.#reportedNs);
    }, pauseMs(this.#failures)).unref();
  }

  /** undefined: done. 'conflict': another program has changed the node meanwhile. Otherwise what is wrong. */
  async #publish(wanted: readonly ConditionType[]): Promise<string | undefined> {
    const { ask, nodeName, taint, conditions } = this.#parts;
    if (taint === undefined && conditions === 'none') return undefined;
    const node = await ask({ method: 'GET', path: nodePath(nodeName), withinMs: WITHIN_MS });
    if (node.status !== 200) return `it ${answerText(node)}`;
    const now = new Date().toISOString();
    const isTainted = wanted.includes('MemoryPressure');
    const patch = taint && taintPatch(node.body, taint, isTainted, now.replace(/\.\d+/, ''));
    const tainted = patch && (await this.#patched('its taint', patch));
    if (tainted !== undefined) return tainted;
    if (conditions === 'none') return undefined;
    return this.#patched('its conditions', conditionPatch(node.body, { nodeName, names: conditions, conditions: wanted }, now));
  }

  /** A missing permission, or an admission policy that denies it (422), is logged once, and tried again at the next change. */
  async #patched(what: string, call: ApiCall): Promise<string | undefined> {
    const answer: ApiAnswer = await this.#parts.ask({ ...call, withinMs: WITHIN_MS });
    if (answer.status === 409) return 'conflict';
    if (answer.status === 403 || answer.status === 422) {
      if (!this.#forbidden.has(what)) {
        this.#parts.log.warn(`the API server does not let evictd change ${what}: it ${answerText(answer)}`, {
          code: 'EVICTD_KUBERNETES_NODE',
          hint: HINT,
        });
      }
      this.#forbidden.add(what);
      return undefined;
    }
    this.#forbidden.delete(what);
    return answer.status >= 200 && answer.status < 300 ? undefined : `for ${what} it ${answerText(answer)}`;
  }
}
