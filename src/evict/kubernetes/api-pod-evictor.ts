import { podEvictionWay } from '../../core/kubernetes/pod-eviction-way.js';
import type { EvictionCause } from '../../core/rank/eviction-cause.js';
import type { Workload } from '../../core/workload/workload.js';
import type { PodEvictionAnswer, PodEvictions } from '../../monitor/ports/node-pods.js';
import type { Evictor, KillInProgress, VictimSample } from '../../monitor/ports/ports.js';
import { DelegatedKill } from '../delegated-kill.js';

/**
 * Evicts pods through the API server. `others` evicts everything else: also pods that are killed before any call.
 */
export function openApiPodEvictor(others: Evictor, evictions: PodEvictions): Evictor {
  return {
    begin: (workload, unit, graceNs = 0n, isKilled, only, cause) => {
      const kill = others.begin(workload, unit, graceNs, isKilled, only, cause);
      const isAsked = workload.kubernetes && only === undefined && cause !== undefined && podEvictionWay(cause) !== 'kill';
      return isAsked ? new ApiPodKill({ kill, workload, cause, graceNs, evictions }) : kill;
    },
  };
}

interface ApiPodKillParts {
  readonly kill: KillInProgress;
  readonly workload: Workload;
  readonly cause: EvictionCause;
  readonly graceNs: bigint;
  readonly evictions: PodEvictions;
}

class ApiPodKill extends DelegatedKill {
  readonly #parts: Omit<ApiPodKillParts, 'kill'>;
  #answer: (() => PodEvictionAnswer) | undefined;

  constructor({ kill, ...parts }: ApiPodKillParts) {
    super(kill, parts.graceNs);
    this.#parts = parts;
  }

  resume(isKilled: boolean): void {
    if (isKilled) this.isTakenOver = true;
    else this.#request(true);
    this.cgroup.resume?.(isKilled);
  }

  read(): VictimSample {
    const left = this.cgroup.read();
    if (left.processes === 0 || this.isTakenOver || this.#answer === undefined) return left;
    const now = this.#answer();
    if (now === 'accepted') return left;
    if (typeof now === 'object' && 'refused' in now)
      return { ...left, refused: now.refused, ...(now.isUnanswered && { unanswered: true }) };
    const isLate = typeof now === 'object' && process.hrtime.bigint() - now.sentNs >= this.answeredWithinNs;
    if (now !== 'unanswered' && !isLate) return { ...left, unanswered: true };
    this.#parts.evictions.endItself(this.#parts.workload, () => this.signal().passing !== 'unsent');
    return this.cgroup.read();
  }

  /** An API server that is known to be away is not asked: the next look sends the signal, when the decision is known to `evictions`. */
  protected ask(): boolean {
    const isFirst = this.#answer === undefined;
    if (isFirst) this.#request(false);
    return isFirst;
  }

  #request(isResumed: boolean): () => PodEvictionAnswer {
    const { evictions, ...pod } = this.#parts;
    return (this.#answer = evictions.request({ ...pod, isResumed }));
  }
}
