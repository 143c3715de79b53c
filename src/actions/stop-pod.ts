import type { RuntimePart } from '../core/pod-sandbox.js';
import type { Workload } from '../core/workload.js';
import type { ContainerRuntime, Evictor, KillInProgress, SignalResult, VictimSample } from '../monitor/ports.js';
import type { Removals } from './removals.js';

/**
 * A healthy runtime answers in milliseconds. After this time or this part of the grace period, whichever is longer,
 * evictd sends SIGTERM itself.
 */
const ANSWERED_WITHIN_NS = 1_000_000_000n;
const PART_OF_GRACE = 10n;

/**
 * Evicts pods and containers through their runtime if there is a grace period. Everything else, and pods whose runtime
 * does not answer, `others` evicts.
 *
 * @param removals  removes evicted pods; undefined: they stay
 */
export function openPodEvictor(
  others: Evictor,
  runtimeOf: (endpoint: string) => ContainerRuntime | undefined,
  removals: Removals | undefined,
): Evictor {
  return {
    begin: (workload, unit, graceNs = 0n) => {
      const kill = others.begin(workload, unit, graceNs);
      const runtime = workload.runtime && runtimeOf(workload.runtime.endpoint);
      if (workload.runtime === undefined || runtime === undefined) return kill;
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

/**
 * Ends a pod or a container: the runtime stops it if there is time; its processes are observed and killed as those of
 * any cgroup.
 */
class PodKill implements KillInProgress {
  readonly #parts: PodKillParts;
  readonly #cgroup: KillInProgress;
  readonly #answeredWithinNs: bigint;
  #stop: { readonly known: () => 'asked' | 'alive' | 'refused'; readonly atNs: bigint } | undefined;
  /** From here on only evictd ends it. */
  #signalled = false;
  /** SIGKILL has reached a process. A pod that contains evictd is not killed, and so not removed. */
  #killed = false;
  #removing = false;

  constructor(parts: PodKillParts) {
    this.#parts = parts;
    this.#cgroup = parts.kill;
    const partNs = parts.graceNs / PART_OF_GRACE;
    this.#answeredWithinNs = partNs > ANSWERED_WITHIN_NS ? partNs : ANSWERED_WITHIN_NS;
  }

  /** The runtime sends each container the stop signal of its image. */
  terminate(): SignalResult {
    if (this.#signalled || this.#stop) return this.#signal();
    const { runtime, part, graceNs } = this.#parts;
    const atNs = process.hrtime.bigint();
    this.#stop = { known: runtime.stop(part, graceNs), atNs };
    return { atNs, processes: this.#cgroup.read().processes, error: undefined };
  }

  /** Kills the processes first: the runtime may be slow. */
  kill(): SignalResult {
    this.#signalled = true;
    const killed = this.#cgroup.kill();
    this.#killed ||= killed.error === undefined || killed.passing === 'in part';
    return killed;
  }

  resume(isKilled: boolean): void {
    this.#signalled = true;
    this.#killed = isKilled;
    this.#cgroup.resume?.(isKilled);
  }

  read(): VictimSample {
    const left = this.#cgroup.read();
    if (left.processes === 0) {
      if (this.#signalled || this.#stop) this.#remove();
      return left;
    }
    if (this.#signalled || !this.#isRefused()) return left;
    this.#signal();
    return this.#cgroup.read();
  }

  onExit(callback: (atNs: bigint) => void): void {
    this.#cgroup.onExit(callback);
  }

  close(): void {
    if (this.#killed) this.#remove(); // even if processes are left: the runtime has means of its own
    this.#cgroup.close();
  }

  #signal(): SignalResult {
    const sent = this.#cgroup.terminate();
    this.#signalled = sent.passing !== 'unsent';
    return sent;
  }

  #isRefused(): boolean {
    const known = this.#stop?.known();
    if (this.#stop === undefined || known === 'alive') return false;
    return known === 'refused' || process.hrtime.bigint() - this.#stop.atNs >= this.#answeredWithinNs;
  }

  #remove(): void {
    if (this.#removing) return;
    this.#removing = true;
    const { workload, part, removals } = this.#parts;
    removals?.begin(workload, part);
  }
}
