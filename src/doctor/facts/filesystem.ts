import type { FilesystemRole } from '../../core/layout.js';

/** What one of evictd's directories, or a filesystem that it watches, lies on. */
export interface DirectoryFacts {
  readonly role: FilesystemRole | 'state' | 'runtime';
  readonly path: string;
  /** By a container runtime; otherwise it is as configured. */
  readonly isTold: boolean;
  /** undefined: it did not answer in time. */
  readonly answer: DirectoryAnswer | undefined;
}

export type DirectoryAnswer =
  | { readonly kind: 'error'; readonly error: string }
  | {
      readonly kind: 'there';
      /** The path, or of those above it the nearest that is there. */
      readonly at: string;
      readonly afterMs: number;
      /** statfs's f_type. */
      readonly type: number;
      readonly device: bigint;
      readonly totalBytes: bigint;
      /** For an ordinary process. */
      readonly availableBytes: bigint;
      /** Why it may not be written to; undefined: it may. */
      readonly refused: string | undefined;
      /** What the files that evictd keeps there take, as far as they are not there yet; those that are take no room when it starts. */
      readonly toMakeBytes: bigint;
    };

export interface FilesystemFacts {
  /** Empty where the addon is not there to ask. */
  readonly directories: readonly DirectoryFacts[];
  /** How long they were waited for. */
  readonly patienceMs: number;
}
