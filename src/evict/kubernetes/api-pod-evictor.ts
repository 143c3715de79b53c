import { isAskedOfApi } from '../../core/kubernetes/owed-call.js';
import type { Workload } from '../../core/workload/workload.js';
import type { PodEvictionAnswer, PodEvictions } from '../../monitor/ports/node-pods.js';
import type { Evictor, KillInProgress, VictimSample } from '../../monitor/ports/ports.js';
import { DelegatedKill } from '../delegated-kill.js';

/**
 * Evicts pods of the API server through its Eviction API if there is a grace period. `others` evicts everything else: also pods
 * without a grace period, whose processes it kills before any call.
 */
export function openApiPodEvictor(others: Evictor, evictions: PodEvictions): Evictor {
  return {
    begin: (workload, unit, graceNs = 0n, isKilled, only) => {
      const kill = others.begin(workload, unit, graceNs, isKilled, only);
      if (workload.kubernetes === undefined || only !== undefined || !isAskedOfApi(graceNs)) return kill;
      return new ApiPodKill({ kill, workload, graceNs, evictions });
    },
  };
}

interface ApiPodKillParts {
  readonly kill: KillInProgress;
  readonly workload: Workload;
  readonly graceNs: bigint;
  readonly evictions: PodEvictions;
}

class ApiPodKill extends DelegatedKill {
  readonly #parts: Omit<ApiPodKillParts, 'kill'>;
  #asked: { readonly answer: () => PodEvictionAnswer; readonly atNs: bigint } | undefined;

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
    if (left.processes === 0 || this.isTakenOver || this.#asked === undefined) return left;
    const { answer, atNs } = this.#asked;
    const now = answer();
    if (typeof now === 'object') return { ...left, refused: now.refused };
    const isLate = now === 'awaited' && process.hrtime.bigint() - atNs >= this.answeredWithinNs;
    if (now !== 'unanswered' && !isLate) return left;
    this.signal();
    this.#parts.evictions.signalled(this.#parts.workload);
    return this.cgroup.read();
  }

  /** A second call means that evictd must send the signal itself. */
  protected ask(): boolean {
    if (this.#asked) return false;
    this.#request(false);
    return true;
  }

  #request(isResumed: boolean): void {
    const { workload, graceNs, evictions } = this.#parts;
    this.#asked = { answer: evictions.request(workload, graceNs, isResumed), atNs: process.hrtime.bigint() };
  }
}
