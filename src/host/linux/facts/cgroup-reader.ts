import { accessSync, constants, readlinkSync } from 'node:fs';
import { attempt } from '../../../errors.js';
import { cgroupDirectory, withAncestors, type CgroupHierarchy } from '../../../core/workload/cgroup.js';
import { isPodsCgroup } from '../../../core/workload/cri-cgroup.js';
import { limitNow } from '../memory/cgroup-memory.js';
import type { CgroupFacts, DelegationFacts } from '../../facts.js';
import { readHierarchies, showsRootCgroup } from '../cgroup/hierarchies.js';
import { textIfAny } from './text-file.js';

/** The inodes of the initial namespaces (include/linux/proc_ns.h, PROC_*_INIT_INO; documented interface since 6.18). */
const INITIAL = { cgroup: 'cgroup:[4026531835]', pid: 'pid:[4026531836]', user: 'user:[4026531837]' } as const;

/** @param parents  the cgroups whose children are workloads; missing ones are left out */
export function readCgroup(parents: readonly string[]): CgroupFacts {
  const { memory, unified } = readHierarchies();
  return {
    memory: memory && { version: memory.version, mountPoint: memory.mountPoint },
    unified: unified !== undefined,
    rootVisible: memory !== undefined && showsRootCgroup(memory),
    writable: memory !== undefined && isWritable(cgroupDirectory(memory, '/')),
    namespaces: { cgroup: namespace('cgroup'), pid: namespace('pid'), user: namespace('user') },
    delegations: memory?.version === 2 ? parents.flatMap((path) => delegationOf(path, memory) ?? []) : [],
    pods: memory && podsOf(parents, memory),
  };
}

/** @param parents  the cgroups whose children are workloads */
export function podsOf(parents: readonly string[], hierarchy: CgroupHierarchy): CgroupFacts['pods'] {
  const [path] = parents.flatMap((parent) => withAncestors(parent).findLast(isPodsCgroup) ?? []);
  if (path === undefined) return undefined;
  const limit = limitNow(hierarchy, path);
  return { path, limitBytes: Number.isSafeInteger(limit) ? BigInt(limit) : undefined };
}

/** undefined: it does not exist. */
function delegationOf(path: string, hierarchy: CgroupHierarchy): DelegationFacts | undefined {
  const handing = withAncestors(path).map((cgroup) => {
    const controllers = textIfAny(`${cgroupDirectory(hierarchy, cgroup)}/cgroup.subtree_control`);
    return { cgroup, controllers: controllers?.trim().split(' ') };
  });
  if (handing[0]?.controllers === undefined) return undefined;
  return { path, stopsAt: handing.toReversed().find(({ controllers }) => controllers?.includes('memory') === false)?.cgroup };
}

function namespace(kind: keyof typeof INITIAL): 'initial' | 'own' | undefined {
  return attempt(() => (readlinkSync(`/proc/self/ns/${kind}`) === INITIAL[kind] ? 'initial' : 'own'));
}

function isWritable(directory: string): boolean {
  try {
    accessSync(directory, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
