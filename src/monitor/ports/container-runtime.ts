import type { RuntimeImage } from '../../core/disk/container-garbage.js';
import type { DiskAmount } from '../../core/disk/disk-amount.js';
import type { Collection } from '../../core/signal/layout.js';
import type { RuntimePart, RuntimeWorkload } from '../../core/workload/pod-sandbox.js';
import type { SourceProblem } from './source-problem.js';

/** What a running container has on disks, as its runtime reports. */
export interface ContainerFiles {
  readonly id: string;
  /**
   * The writable layer; undefined: not measured yet. `directory`: a directory on its filesystem; `atNs`: when it was
   * measured, monotonic clock.
   */
  readonly layer: { readonly directory: string; readonly amount: DiskAmount; readonly atNs: bigint } | undefined;
  /** undefined: the output goes to no file. */
  readonly logPath: string | undefined;
}

/** Directories on the filesystems of a container runtime's images and containers. */
export interface RuntimeFilesystems {
  readonly imagefs: string;
  /** undefined: where the images are. */
  readonly containerfs: string | undefined;
}

export interface ReportedFilesystems extends RuntimeFilesystems {
  readonly endpoint: string;
}

/** A container runtime, by its CRI socket. Only `reported` and `filesystemsReported` wait, and no method throws. */
export interface ContainerRuntime {
  readonly endpoint: string;
  readonly hasReported: boolean;
  /** The last report, also after an error: the same value until there is a new report. */
  workloads(): readonly RuntimeWorkload[];
  /** Requests a new report in the background, at most once a second, and not while a request is open. */
  follow(): void;
  /** Requests a report where one is due. Resolves with the answer, or after 5 s without one. Never rejects. */
  reported(): Promise<void>;
  /** Requests only the filesystems. Resolves with the answer, or after 5 s without one. Never rejects. */
  filesystemsReported(): Promise<void>;
  /**
   * Requests that the containers are stopped, each with its stop signal and SIGKILL after the grace period, and then
   * the pod, where the workload is a whole pod. The returned function reports the state of the request: 'alive': the
   * runtime has answered something since; 'refused': it has refused.
   */
  stop(part: RuntimePart, graceNs: bigint): () => 'requested' | 'alive' | 'refused';
  /**
   * Removes a workload that has ended, with what it has written: a pod with all its containers, or a container, and its
   * pod where that has no other. A workload that was removed already is fine. Resolves with the error; undefined: it was
   * removed. Never rejects.
   */
  remove(part: RuntimePart): Promise<string | undefined>;
  /**
   * Removes what is unused: containers that have ended, with pods that have no others, or images without a container.
   * Removes nothing where a kubelet manages the pods. Resolves with what could not be removed, and why. Never rejects.
   */
  collect(collection: Collection): Promise<readonly string[]>;
  /** What `collect` would remove. Rejects where the runtime does not answer. */
  garbage(): Promise<{
    readonly containers: readonly string[];
    readonly pods: readonly string[];
    readonly images: readonly RuntimeImage[];
  }>;
  /** Images that a container uses, running or not. Rejects where the runtime does not answer. */
  usedImages(): Promise<readonly RuntimeImage[]>;
  /** The last report; undefined: there was none. */
  filesystems(): RuntimeFilesystems | undefined;
  /** What the running containers have on disks. Rejects where the runtime does not answer. */
  files(): Promise<readonly ContainerFiles[]>;
  /** Why the last request had no answer; undefined: it had one, or there was no request yet. */
  problem(): SourceProblem | undefined;
  close(): void;
}
