import type { UnitCgroup } from '../core/unit.js';
import type { Protection } from '../core/workload.js';
import type { CgroupSample } from './cgroup-files.js';
import type { RuleEffect } from './rules.js';
import type { MemberRoot } from './source-root.js';

/** A child of a source, a unit below it, or what a container runtime has told of. */
export interface Member {
  readonly name: string;
  readonly path: string;
  /** What it was found below. */
  readonly root: MemberRoot;
  readonly row: number;
  readonly id: bigint;
  readonly effect: RuleEffect;
  /** Of a unit that the machine needs. */
  readonly listed: Protection | undefined;
  /** undefined: its cgroup is not that of a service or scope of systemd's. */
  readonly unit: UnitCgroup | undefined;
  /** Of its memory, as of when it was listed; undefined: it has none, or it cannot be read. */
  readonly limitBytes: bigint | undefined;
}

/** A member as read in one pass. */
export interface Sampled {
  readonly member: Member;
  readonly sample: CgroupSample | undefined;
}
