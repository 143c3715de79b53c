import type { FilesystemRole } from '../../core/layout.js';
import type { NodeFacts } from './node.js';
import type { InstanceFacts, ReloadFacts, RuntimeFacts } from './process.js';
import type { Unseen } from './unseen.js';
import type { WorkloadFacts } from './workloads.js';

/** Everything that is judged on Windows. */
export interface WindowsDoctorFacts {
  readonly version: string;
  readonly runtime: RuntimeFacts;
  readonly rights: RightsFacts;
  readonly instance: InstanceFacts;
  readonly reload: ReloadFacts;
  readonly service: WindowsServiceFacts;
  readonly node: NodeFacts;
  readonly volumes: readonly VolumeFacts[];
  readonly workloads: WorkloadFacts;
}

/** Whom this process may end. */
export interface RightsFacts {
  readonly isAdministrator: boolean;
  /** Whether its token has SeDebugPrivilege, and it could be enabled. */
  readonly debugPrivilege: boolean | Unseen;
}

/** What the service manager says of evictd. */
export type WindowsServiceFacts = { readonly state: 'not installed' } | { readonly state: string; readonly pid: number } | Unseen;

/** What one of evictd's directories, or a volume that it watches, says. */
export interface VolumeFacts {
  readonly role: FilesystemRole | 'state' | 'runtime';
  readonly path: string;
  /** undefined: it has not answered in time. */
  readonly answer:
    { readonly error: string } | { readonly at: string; readonly totalBytes: bigint; readonly availableBytes: bigint } | undefined;
  /** Why it may not be written to; undefined: it may, or evictd does not write there. */
  readonly refused: string | undefined;
}
