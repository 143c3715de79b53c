import type { RuntimeImage } from '../core/container-garbage.js';
import type { DiskAmount } from '../core/disk-holding.js';
import type { Collection } from '../core/layout.js';
import type { RuntimePart, RuntimeWorkload } from '../core/pod-sandbox.js';
import type { SourceProblem } from './ports.js';

/** What one of the containers that run has on disks, as its runtime tells. */
export interface ContainerFiles {
  readonly id: string;
  /** What it has written over its image; undefined: that has not been measured yet. `directory`: one of the filesystem where that lies; `atNs`: when it was measured, monotonic clock. */
  readonly layer: { readonly directory: string; readonly amount: DiskAmount; readonly atNs: bigint } | undefined;
  /** undefined: what it prints goes to no file. */
  readonly logPath: string | undefined;
}

/** Directories of the filesystems that a container runtime has its images on, and its containers. */
export interface RuntimeFilesystems {
  readonly imagefs: string;
  /** undefined: where the images are. */
  readonly containerfs: string | undefined;
}

/** Those of one runtime. */
export interface ToldFilesystems extends RuntimeFilesystems {
  readonly endpoint: string;
}

/** A container runtime, by its CRI socket. Nothing of it waits or throws but `told` and `placed`. */
export interface ContainerRuntime {
  readonly endpoint: string;
  /** It has said at least once what its workloads are. */
  readonly hasTold: boolean;
  /** As it said last, whatever became of it since: the same value until it says something else. */
  workloads(): readonly RuntimeWorkload[];
  /** Asks for them anew, in the background; not sooner than a second after it was asked last, and not while it has not answered. */
  follow(): void;
  /** Asks where that is due, and resolves when it has answered, or has not within 5 s. Never rejects. */
  told(): Promise<void>;
  /** Asks only where its images lie, and resolves when it has answered, or has not within 5 s. Never rejects. */
  placed(): Promise<void>;
  /**
   * Asks for its containers to be stopped, each with its stop signal and SIGKILL after the grace, and then for the pod's, where it is a whole pod. The function returns what is known of that:
   * 'alive': it has answered something since. 'refused': it says that it does not.
   */
  stop(part: RuntimePart, graceNs: bigint): () => 'asked' | 'alive' | 'refused';
  /**
   * Has what has ended removed, with what it has written: a pod with all its containers, or a container, and its pod where that has no other. What is gone already is fine. Resolves with why it
   * was not; undefined: it was. Never rejects.
   */
  remove(part: RuntimePart): Promise<string | undefined>;
  /**
   * Removes what nobody needs: containers that have ended, with pods that have no others, or images that no container stands on. Nothing of a runtime whose pods a kubelet makes. Resolves with what
   * could not be removed, and why. Never rejects.
   */
  collect(collection: Collection): Promise<readonly string[]>;
  /** What `collect` would remove. Rejects where the runtime cannot be asked. */
  garbage(): Promise<{
    readonly containers: readonly string[];
    readonly pods: readonly string[];
    readonly images: readonly RuntimeImage[];
  }>;
  /** Images that a container stands on, running or not. Rejects where the runtime cannot be asked. */
  usedImages(): Promise<readonly RuntimeImage[]>;
  /** As it has told; undefined: it has not. */
  filesystems(): RuntimeFilesystems | undefined;
  /** What its containers have on disks. Rejects where the runtime cannot be asked. */
  files(): Promise<readonly ContainerFiles[]>;
  /** Why it did not answer when it was asked last; undefined: it did, or was not asked yet. */
  problem(): SourceProblem | undefined;
  close(): void;
}
