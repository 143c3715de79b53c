import { broken, degraded, ok, type Check } from '../check.js';
import { defineCheck } from '../check-kind.js';
import type { CgroupFacts } from '../../../host/facts/cgroup-facts.js';

const ID = 'cgroup.namespace';

/** Whether evictd sees and can end all workloads of the machine. */
export function checkCgroupNamespace({ memory, rootVisible, writable, namespaces }: CgroupFacts): Check[] {
  if (memory === undefined) return [];
  const { cgroup, pid, user } = namespaces;
  const details = { rootVisible, writable, cgroup: cgroup ?? null, pid: pid ?? null, user: user ?? null };
  const found: { readonly summary: string; readonly fix: string; readonly isBroken?: true }[] = [];
  if (pid === 'own' && memory.version === 1) {
    const summary = 'own PID namespace: on cgroup v1 evictd cannot end processes outside';
    found.push({ summary, fix: "run the container in the host's PID namespace (hostPID, --pid=host)", isBroken: true });
  } else if (pid === 'own') {
    const summary = 'own PID namespace: evictd can end workloads outside only by cgroup.kill';
    found.push({ summary, fix: "run the container in the host's PID namespace (hostPID, --pid=host)" });
  }
  if (user === 'own') {
    const summary = 'own user namespace: root is unprivileged on the host';
    found.push({ summary, fix: "run the container in the host's user namespace (--userns=host)", isBroken: true });
  }
  if (!rootVisible) {
    const summary = `${memory.mountPoint} shows only a part of the machine's cgroups${cgroup === 'own' ? ', those of this container' : ''}`;
    found.push({ summary, fix: `mount the host's /sys/fs/cgroup into the container, with --cgroupns=host` });
  }
  if (!writable) {
    const summary = `${memory.mountPoint} is not writable: no cgroup.kill, no memory thresholds in the kernel`;
    found.push({ summary, fix: 'run evictd as root, with the cgroup filesystem mounted writable' });
  }
  if (found.length === 0) return [ok(ID, 'initial namespaces; all cgroups are visible and writable', details)];
  const [summary, fix] = [found.map((each) => each.summary).join('; '), [...new Set(found.map((each) => each.fix))].join('; ')];
  return [(found.some(({ isBroken }) => isBroken) ? broken : degraded)(ID, summary, fix, details)];
}

export const cgroupNamespaceCheck = defineCheck(ID, ['cgroup'], ({ cgroup }) => checkCgroupNamespace(cgroup));
