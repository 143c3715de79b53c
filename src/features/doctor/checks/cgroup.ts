import { broken, degraded, ok, command, isPlain } from '../check.js';
import { defineCheck } from '../check-kind.js';
import { amountOfBytes } from '../../../core/quantity/amount.js';
import { jsonInteger } from '../../../core/quantity/integer.js';
import { hasSystemd, type CgroupFacts, type ServiceFacts } from '../../../host/facts.js';
import type { NodeFacts } from '../machine-facts.js';
import { firstOf } from '../../../core/name/name-list.js';

/** How to get cgroup v2. */
export function unifiedFix(service: ServiceFacts): string {
  return hasSystemd(service)
    ? 'boot with systemd.unified_cgroup_hierarchy=1'
    : 'boot with cgroup_no_v1=all, and mount cgroup2 at /sys/fs/cgroup';
}

export const cgroupVersionCheck = defineCheck('cgroup.version', ['cgroup', 'service'], ({ cgroup: { memory, unified }, service }, id) => {
  if (memory === undefined) {
    const fix = 'boot without cgroup_disable=memory (Raspberry Pi: with cgroup_enable=memory), and mount the cgroup filesystem';
    return broken(id, 'no cgroup memory controller: evictd cannot find or measure workloads', fix, { version: null, unified });
  }
  const { version, mountPoint } = memory;
  const details = { version, unified, mountPoint };
  if (version === 2) return ok(id, `cgroup v2 at ${mountPoint}`, details);
  const kind = unified ? 'hybrid: memory on cgroup v1' : 'cgroup v1';
  const lost = 'no memory.min and no pressure of cgroups';
  const kill = unified ? '' : ', and evictd ends a cgroup process by process';
  return degraded(id, `${kind} at ${mountPoint}: ${lost}${kill}`, unifiedFix(service), details);
});

/** Whether evictd sees and can end all workloads of the machine. */
export const cgroupNamespaceCheck = defineCheck(
  'cgroup.namespace',
  ['cgroup'],
  ({ cgroup: { memory, rootVisible, writable, namespaces } }, id) => {
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
      const part = `a part of the machine's cgroups${cgroup === 'own' ? ', those of this container' : ''}`;
      const unseen = memory.version === 1 ? 'pids.max' : 'memory.max and pids.max';
      const summary = `${memory.mountPoint} shows only ${part}; ${unseen} of cgroups above are not seen`;
      found.push({ summary, fix: `mount the host's /sys/fs/cgroup into the container, with --cgroupns=host` });
    }
    if (!writable) {
      const summary = `${memory.mountPoint} is not writable: no cgroup.kill, no memory thresholds in the kernel`;
      found.push({ summary, fix: 'run evictd as root, with the cgroup filesystem mounted writable' });
    }
    if (found.length === 0) return [ok(id, 'initial namespaces; all cgroups are visible and writable', details)];
    const [summary, fix] = [found.map((each) => each.summary).join('; '), [...new Set(found.map((each) => each.fix))].join('; ')];
    return [(found.some(({ isBroken }) => isBroken) ? broken : degraded)(id, summary, fix, details)];
  },
);

/** Whether a kubelet leaves its pods less memory than the node has: with kubeReserved or systemReserved. */
export function isLimited(pods: CgroupFacts['pods'], capacities: NodeFacts['capacities']): boolean {
  return (pods?.limitBytes ?? Infinity) < (capacities.get('memory.available') ?? 0n);
}

/** The limit of all pods of a kubelet: at it the kernel kills, however much memory the node has. */
export const podsLimitCheck = defineCheck(
  'cgroup.pods',
  ['cgroup', 'node'],
  ({ cgroup: { pods }, node: { thresholds, capacities } }, id) => {
    if (pods?.limitBytes === undefined) return [];
    const { path, limitBytes } = pods;
    const details = { path, limitBytes: jsonInteger(limitBytes) };
    const what = `${path}, which has all pods, is limited to ${amountOfBytes(limitBytes)}`;
    if (!isLimited(pods, capacities)) return [ok(id, `${what}: the node has no more`, details)];
    const isWatched = capacities.has(SIGNAL) && thresholds.some(({ signal }) => signal === SIGNAL);
    if (isWatched) return [ok(id, `${what}: ${SIGNAL} has a threshold`, details)];
    const summary = `${what}, less than the node has: the kernel kills there before memory.available is met, and evictd does not watch it`;
    return [degraded(id, summary, `set allocatable: {cgroup: ${path}}, and a hard threshold of memory.available or ${SIGNAL}`, details)];
  },
);

const SIGNAL = 'allocatableMemory.available';

/** The memory controller: without it workloads have neither usage nor limits (cgroup-v2.rst, "Enabling and Disabling"). */
export const controllersCheck = defineCheck(
  'cgroup.controllers',
  ['cgroup', 'service'],
  ({ cgroup: { memory, delegations }, service }, id) => {
    if (memory?.version !== 2 || delegations.length === 0) return [];
    const details = { cgroups: delegations.map(({ path, stopsAt }) => ({ path, stopsAt: stopsAt ?? null })) };
    const stopped = delegations.filter(({ stopsAt }) => stopsAt !== undefined);
    if (stopped.length === 0)
      return [ok(id, `the memory controller is enabled for the children of ${firstOf(delegations.map(({ path }) => path))}`, details)];
    const disabled = stopped.map(({ path, stopsAt }) => `${path} (disabled in ${String(stopsAt)})`);
    const files = [
      ...new Set(stopped.map(({ stopsAt }) => `${memory.mountPoint}${stopsAt === '/' ? '' : (stopsAt ?? '')}/cgroup.subtree_control`)),
    ];
    const fix = hasSystemd(service)
      ? 'Delegate=yes or MemoryAccounting=yes for its unit'
      : files.map((file) => (isPlain(file) ? command(`echo +memory >${file}`) : `write +memory to ${file}`)).join(', ');
    return [
      broken(id, `the memory controller is disabled for the children of ${firstOf(disabled)}: evictd cannot measure them`, fix, details),
    ];
  },
);
