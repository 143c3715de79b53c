import { errnoName } from '../../../errors.js';
import { CgroupDirectory } from '../../../host/linux/cgroup/cgroup-directory.js';

/** `throttle`: memory.high. `freeze`: cgroup.freeze, or freezer.state of v1. */
export type RestraintKind = 'throttle' | 'freeze';

/** What evictd has written, or is about to write, into a control file of a cgroup, to be restored. */
export interface Restraint {
  readonly kind: RestraintKind;
  /** Id of the workload. */
  readonly target: string;
  /** Its cgroup. */
  readonly path: string;
  /** The directory of the control file: on v1 it may be in another hierarchy. */
  readonly directory: string;
  readonly id: bigint;
  readonly file: 'memory.high' | 'cgroup.freeze' | 'freezer.state';
  /** The content that lifting the restraint writes. */
  readonly before: string;
  readonly written: string;
}

/** `left`: another program has written to the file since, and evictd leaves that. `gone`: with the cgroup. */
export type Lifted = 'lifted' | 'left' | 'gone';

const GONE: ReadonlySet<string> = new Set(['ENOENT', 'ENODEV', 'ESTALE']);

/** Writes the content from before. Throws Node's errors: it may still be in force. */
export function lift({ directory, id, file, before, written }: Restraint): Lifted {
  let cgroup: CgroupDirectory | undefined;
  try {
    cgroup = new CgroupDirectory(directory, id);
    if (!isInForce(written, cgroup.read(file))) return 'left';
    cgroup.write(file, before);
    return 'lifted';
  } catch (error) {
    if (GONE.has(errnoName(error) ?? '')) return 'gone';
    throw error;
  } finally {
    cgroup?.close();
  }
}

/** A v1 freezer is FREEZING until all processes are FROZEN. */
function isInForce(written: string, found: string): boolean {
  return found === written || (written === 'FROZEN' && found === 'FREEZING');
}
