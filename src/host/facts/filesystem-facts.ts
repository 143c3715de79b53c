import type { FilesystemRole } from '../../core/signal/layout.js';

/** One of evictd's directories, or a filesystem that it watches. */
export interface DirectoryFacts {
  readonly role: FilesystemRole | 'state' | 'runtime';
  readonly path: string;
  /** The container runtime reported the path; otherwise it is configured. */
  readonly isReported: boolean;
  /** undefined: no answer in time. */
  readonly answer: DirectoryAnswer | undefined;
}

export type DirectoryAnswer =
  | { readonly kind: 'error'; readonly error: string }
  | {
      readonly kind: 'there';
      /** The path, or its nearest ancestor that exists. */
      readonly at: string;
      readonly afterMs: number;
      /** statfs's f_type. */
      readonly type: number;
      readonly device: bigint;
      readonly totalBytes: bigint;
      /** For an unprivileged process. */
      readonly availableBytes: bigint;
      /** Why it is not writable; undefined: it is. */
      readonly refused: string | undefined;
      /** The size of the files that evictd would create there at start-up. */
      readonly toMakeBytes: bigint;
    };

export interface FilesystemFacts {
  /** Empty without the addon. */
  readonly directories: readonly DirectoryFacts[];
  /** The limit for each answer. */
  readonly timeoutMs: number;
}
