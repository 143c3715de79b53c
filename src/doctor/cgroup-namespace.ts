import { broken, degraded, ok, type Check } from './check.js';
import type { CgroupFacts } from './facts/cgroup.js';

const ID = 'cgroup.namespace';

/** Whether evictd sees, and reaches, the machine or only a part of it. */
export function checkCgroupNamespace({ memory, rootVisible, writable, namespaces }: CgroupFacts): Check[] {
  if (memory === undefined) return [];
  const { cgroup, pid, user } = namespaces;
  const details = { rootVisible, writable, cgroup: cgroup ?? null, pid: pid ?? null, user: user ?? null };
  const found: { readonly said: string; readonly fix: string; readonly isBroken?: true }[] = [];
  if (pid === 'own' && memory.version === 1) {
    const said = 'this is a process namespace of its own: processes outside cannot be ended on cgroup v1';
    found.push({ said, fix: "give the container the host's processes (hostPID, --pid=host)", isBroken: true });
  } else if (pid === 'own') {
    const said = 'this is a process namespace of its own: workloads outside can be ended by cgroup.kill only';
    found.push({ said, fix: "give the container the host's processes (hostPID, --pid=host)" });
  }
  if (user === 'own') {
    const said = 'this is a user namespace of its own: root here is nobody outside';
    found.push({ said, fix: "run it in the host's user namespace (--userns=host)", isBroken: true });
  }
  if (!rootVisible) {
    const said = `${memory.mountPoint} shows a part of the machine's cgroups${cgroup === 'own' ? ', those of this container' : ''}`;
    found.push({ said, fix: `mount the host's /sys/fs/cgroup into the container, with --cgroupns=host` });
  }
  if (!writable) {
    const said = `${memory.mountPoint} may not be written to: no cgroup.kill, no threshold with the kernel`;
    found.push({ said, fix: 'run evictd as root, with the cgroup filesystem mounted writable' });
  }
  if (found.length === 0) return [ok(ID, "the machine's own namespaces; all cgroups are seen and may be written to", details)];
  const [said, fix] = [found.map((each) => each.said).join('; '), [...new Set(found.map((each) => each.fix))].join('; ')];
  return [(found.some(({ isBroken }) => isBroken) ? broken : degraded)(ID, said, fix, details)];
}
