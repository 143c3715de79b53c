import type { FilesystemRole } from '../../../core/signal/layout.js';
import type { Unseen } from '../../../host/facts/unread-fact.js';

export interface RightsFacts {
  readonly isAdministrator: boolean;
  /** Whether SeDebugPrivilege could be enabled. */
  readonly debugPrivilege: boolean | Unseen;
}

/** evictd in the service manager. */
export type WindowsServiceFacts = { readonly state: 'not installed' } | { readonly state: string; readonly pid: number } | Unseen;

/** One of evictd's directories, or a volume that it watches. */
export interface VolumeFacts {
  readonly role: FilesystemRole | 'state' | 'runtime';
  readonly path: string;
  /** undefined: no answer in time. */
  readonly answer:
    { readonly error: string } | { readonly at: string; readonly totalBytes: bigint; readonly availableBytes: bigint } | undefined;
  /** Why it is not writable; undefined: it is, or evictd does not write there. */
  readonly refused: string | undefined;
}
