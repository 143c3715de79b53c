import type { KubernetesConfig } from '../../../core/kubernetes/kubernetes-config.js';
import { messageOf } from '../../../errors.js';
import type { Log } from '../../../log/log.js';
import type { StepListener, StepReport } from '../../../monitor/ports/ports.js';
import { forecastRescheduling, placesLines } from './rescheduling.js';

/** Between two lists of the cluster, from the begin of one to the begin of the next. */
const EVERY_MS = 60_000;
/** 10,000 objects: less than `evictd explain` reads, as the node has little memory then. */
const MAX_PAGES = 20;
/** The maximum number of waiting pods: beyond it the oldest are dropped. */
const MAX_WAITING = 64;

/** Logs where the victims of a dry run could run now, after the decision. It runs in no other evictd, and nothing waits for it. */
export class DryRunPlaces implements StepListener {
  readonly #config: KubernetesConfig;
  readonly #log: Pick<Log, 'info' | 'warn'>;
  readonly #everyMs: number;
  readonly #ends = new AbortController();
  readonly #waiting = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  /** A list, or the pause after it. */
  #isBusy = false;
  /** What was last logged about the cluster, which is not logged again. */
  #unread = '';

  /** @param everyMs  tests wait less */
  constructor(config: KubernetesConfig, log: Pick<Log, 'info' | 'warn'>, everyMs = EVERY_MS) {
    this.#config = config;
    this.#log = log;
    this.#everyMs = everyMs;
  }

  stepped({ effects }: Pick<StepReport, 'effects'>): void {
    for (const effect of effects) {
      if (effect.kind !== 'evict' || effect.decision.victim.process !== undefined) continue;
      const pod = effect.decision.victim.workload.kubernetes;
      if (pod !== undefined) this.#waiting.add(`${pod.namespace}/${pod.name}`);
    }
    for (const pod of this.#waiting) if (this.#waiting.size > MAX_WAITING) this.#waiting.delete(pod);
    if (!this.#isBusy && this.#waiting.size > 0) this.#startIn(0);
  }

  skipped(): boolean {
    return true;
  }

  close(): void {
    this.#waiting.clear();
    clearTimeout(this.#timer);
    this.#ends.abort();
  }

  /** Not within the step. */
  #startIn(ms: number): void {
    this.#isBusy = true;
    this.#timer = setTimeout(() => {
      this.#isBusy = false;
      if (this.#waiting.size > 0) void this.#logPlaces().catch(this.#failed.bind(this));
    }, ms).unref();
  }

  async #logPlaces(): Promise<void> {
    const pods = [...this.#waiting];
    this.#waiting.clear();
    this.#startIn(this.#everyMs);
    const { signal } = this.#ends;
    const found = await forecastRescheduling(this.#config, { pods, mostPages: MAX_PAGES, signal });
    if (found === undefined || signal.aborted) return;
    const lines = placesLines(found);
    const ofPods = 'unknown' in found ? 0 : found.size;
    for (const line of lines.slice(0, ofPods)) this.#log.info(`dry run: ${line}`);
    const unread = lines.slice(ofPods).join('; ');
    this.#warn(unread, 'unknown' in found ? found.code : 'EVICTD_KUBERNETES_REFUSED');
  }

  /** An answer that is not a list of objects, for example: the dry run goes on. */
  #failed(error: unknown): void {
    this.#warn(`could run now: not known: ${messageOf(error)}`, 'EVICTD_KUBERNETES_DOCUMENT');
  }

  #warn(unread: string, code: string): void {
    if (unread !== this.#unread && unread !== '') this.#log.warn(`dry run: ${unread}`, { code });
    this.#unread = unread;
  }
}
