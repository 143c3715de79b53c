import { cgroupDirectory, membership, pathBelowMount, withAncestors } from '../../../core/workload/cgroup.js';
import { type CgroupProtection, type SubjectFacts, isUnseen, type Unseen } from '../../facts.js';
import { readHierarchies } from '../cgroup/hierarchies.js';
import { textIfAny, textOf } from './text-file.js';

/** @param running  the process that guards the node; undefined: none, and this process is examined */
export function readSubject(running: number | undefined): SubjectFacts {
  const pid = running ?? process.pid;
  const of = (file: string): string | Unseen => textOf(`/proc/${String(pid)}/${file}`);
  const [status, limits, oomScoreAdj] = [of('status'), of('limits'), of('oom_score_adj')];
  return {
    kind: running === undefined ? 'this process' : 'running',
    pid,
    ...(isUnseen(status) ? { uid: status, effective: status } : parseStatus(status)),
    limits: isUnseen(limits) ? limits : parseLimits(limits),
    oomScoreAdj: isUnseen(oomScoreAdj) ? oomScoreAdj : Number(oomScoreAdj),
    cgroups: readProtections(textIfAny(`/proc/${String(pid)}/cgroup`)),
  };
}

/** @param status  of /proc/PID/status */
export function parseStatus(status: string): Pick<SubjectFacts, 'uid' | 'effective'> {
  const [, uid] = /^Uid:\s+\d+\s+(\d+)/m.exec(status) ?? [];
  const [, effective] = /^CapEff:\s*([0-9a-f]+)$/m.exec(status) ?? [];
  const none: Unseen = { unseen: 'not in /proc/PID/status' };
  return { uid: uid === undefined ? none : Number(uid), effective: effective === undefined ? none : BigInt(`0x${effective}`) };
}

/** The soft limits of /proc/PID/limits. */
export function parseLimits(limits: string): Exclude<SubjectFacts['limits'], Unseen> {
  const soft = (name: string): number => {
    const [, value = ''] = new RegExp(`^${name}\\s+(\\S+)`, 'm').exec(limits) ?? [];
    return value === 'unlimited' ? Infinity : Number(value);
  };
  return { openFiles: soft('Max open files'), lockedBytes: soft('Max locked memory') };
}

/** @param procCgroup  of /proc/PID/cgroup */
function readProtections(procCgroup: string | undefined): readonly CgroupProtection[] | undefined {
  const { memory } = readHierarchies();
  if (memory?.version !== 2 || procCgroup === undefined) return undefined;
  const kernelPath = membership(procCgroup, memory);
  const path = kernelPath === undefined ? undefined : pathBelowMount(kernelPath, memory);
  return path === undefined
    ? undefined
    : withAncestors(path)
        .slice(0, -1)
        .map((cgroup) => readProtection(cgroup, cgroupDirectory(memory, cgroup)));
}

function readProtection(path: string, directory: string): CgroupProtection {
  return { path, minBytes: bytesIn(`${directory}/memory.min`), usageBytes: bytesIn(`${directory}/memory.current`) };
}

/** memory.min = max: the kernel counts bytes in 63 bits. */
const ALL = 2n ** 63n - 1n;

function bytesIn(path: string): bigint | undefined {
  const text = textIfAny(path)?.trim();
  if (text === 'max') return ALL;
  return text !== undefined && /^\d+$/.test(text) ? BigInt(text) : undefined;
}
