import { isBelow } from '../core/cgroup.js';
import { degraded, ok, type Check } from './check.js';
import type { DaemonFacts } from './facts/daemon.js';
import type { MemoryFacts } from './facts/kernel.js';
import { isUnseen } from './facts/unseen.js';
import type { WorkloadFacts } from './facts/workloads.js';
import { parseOomctl } from './oomctl.js';

/** systemd-oomd kills whole cgroups, and only below those that a unit asks it to watch: it matters where workloads of evictd's live there. Without swap it never acts on swap. */
export function checkSystemdOomd(
  id: string,
  who: string,
  { settings }: DaemonFacts,
  { listed }: WorkloadFacts,
  { swapBytes }: Pick<MemoryFacts, 'swapBytes'>,
): Check {
  const off = 'systemctl disable --now systemd-oomd.service systemd-oomd.socket';
  if (isUnseen(settings))
    return degraded(id, `${who}: what it watches cannot be told: ${settings.unseen}`, `oomctl shows it; ${off} ends it`, {
      monitored: null,
    });
  const monitored = parseOomctl(settings).filter(({ why }) => why === 'pressure' || swapBytes > 0n);
  const details = { monitored: monitored.map(({ path, why, limit }) => ({ path, why, limit })) };
  if (monitored.length === 0)
    return ok(
      id,
      `${who} watches no cgroup${swapBytes === 0n ? ' that is not about swap, which is not there' : ''}: it kills nobody`,
      details,
    );
  const shared = monitored.flatMap((cgroup) => {
    const count = listed.filter(({ path }) => overlap(path, cgroup.path)).length;
    return count === 0
      ? []
      : [`${cgroup.path} (${cgroup.limit}), in which ${String(count)} ${count === 1 ? 'workload lives' : 'workloads live'}`];
  });
  const all = monitored.map(({ path, limit }) => `${path} (${limit})`).join(', ');
  if (shared.length === 0) return ok(id, `${who} watches ${all}: no workload of evictd's lives there`, details);
  const said = `${who} watches ${shared.join(', ')}: it kills by an order of its own, and knows nothing of evictd's rules`;
  const fix = `ManagedOOMSwap=auto and ManagedOOMMemoryPressure=auto for these units, or ${off}; ManagedOOMPreference=omit keeps it off a unit`;
  return degraded(id, said, fix, details);
}

function overlap(workload: string, monitored: string): boolean {
  return workload === monitored || isBelow(workload, monitored) || isBelow(monitored, workload);
}
