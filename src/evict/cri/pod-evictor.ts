import type { RuntimePart } from '../../core/workload/pod-sandbox.js';
import type { Workload } from '../../core/workload/workload.js';
import type { ContainerRuntime, Evictor, KillInProgress, SignalResult, VictimSample } from '../../monitor/ports/ports.js';
import { DelegatedKill } from '../delegated-kill.js';
import type { Removals } from './container-removals.js';

/**
 * Evicts pods and containers through their runtime if there is a grace period. `others` evicts everything else: also pods
 * whose runtime does not answer, and those of a kubelet, which removes them.
 *
 * @param removals  removes evicted pods; undefined: they stay
 */
export function openPodEvictor(
  others: Evictor,
  runtimeOf: (endpoint: string) => ContainerRuntime | undefined,
  removals: Removals | undefined,
): Evictor {
  return {
    begin: (workload, unit, graceNs = 0n, isKilled) => {
      const kill = others.begin(workload, unit, graceNs, isKilled);
      const runtime = workload.runtime && runtimeOf(workload.runtime.endpoint);
      if (workload.runtime === undefined || runtime === undefined || workload.kubernetes) return kill;
      return new PodKill({ kill, workload, part: workload.runtime, runtime, graceNs, removals });
    },
  };
}

interface PodKillParts {
  readonly kill: KillInProgress;
  readonly workload: Workload;
  readonly part: RuntimePart;
  readonly runtime: ContainerRuntime;
  readonly graceNs: bigint;
  readonly removals: Removals | undefined;
}

class PodKill extends DelegatedKill {
  #stop: { readonly known: () => 'requested' | 'alive' | 'refused'; readonly atNs: bigint } | undefined;
  /** SIGKILL has reached a process. A pod that contains evictd is not killed, and so not removed. */
  #killed = false;
  #removing = false;

  constructor(private readonly parts: PodKillParts) {
    super(parts.kill, parts.graceNs);
  }

  override kill(): SignalResult {
    const killed = super.kill();
    this.#killed ||= killed.error === undefined || killed.passing === 'in part';
    return killed;
  }

  resume(isKilled: boolean): void {
    this.isTakenOver = true;
    this.#killed = isKilled;
    this.cgroup.resume?.(isKilled);
  }

  read(): VictimSample {
    const left = this.cgroup.read();
    if (left.processes === 0) {
      if (this.isTakenOver || this.#stop) this.#remove();
      return left;
    }
    if (this.isTakenOver || !this.#isRefused()) return left;
    this.signal();
    return this.cgroup.read();
  }

  override close(): void {
    if (this.#killed) this.#remove(); // even if processes are left: the runtime has means of its own
    super.close();
  }

  /** The runtime sends each container the stop signal of its image. A second call means that evictd should signal. */
  protected ask(): boolean {
    if (this.#stop) return false;
    const { runtime, part, graceNs } = this.parts;
    this.#stop = { known: runtime.stop(part, graceNs), atNs: process.hrtime.bigint() };
    return true;
  }

  #isRefused(): boolean {
    const known = this.#stop?.known();
    if (this.#stop === undefined || known === 'alive') return false;
    return known === 'refused' || process.hrtime.bigint() - this.#stop.atNs >= this.answeredWithinNs;
  }

  #remove(): void {
    if (this.#removing) return;
    this.#removing = true;
    const { workload, part, removals } = this.parts;
    removals?.begin(workload, part);
  }
}
