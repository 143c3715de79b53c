import type { UnitCgroup } from '../../core/systemd/unit.js';
import type { Protection } from '../../core/workload/workload.js';
import type { CgroupSample } from './cgroup-files.js';
import type { RuleEffect } from '../workload-rules.js';
import type { MemberRoot } from './source-root.js';

/** A child of a source, a unit below it, or a cgroup reported by a container runtime. */
export interface Member {
  readonly name: string;
  readonly path: string;
  readonly root: MemberRoot;
  readonly row: number;
  readonly id: bigint;
  readonly effect: RuleEffect;
  /** The protection of a unit that the machine needs. */
  readonly listed: Protection | undefined;
  /** undefined: not the cgroup of a service or scope. */
  readonly unit: UnitCgroup | undefined;
  /** The memory limit when it was listed; undefined: none, or unreadable. */
  readonly limitBytes: bigint | undefined;
}

/** A member as read in one pass. */
export interface Sampled {
  readonly member: Member;
  readonly sample: CgroupSample | undefined;
}
