import { isBelow } from '../../../core/workload/cgroup.js';
import { degraded, ok, type Check } from '../check.js';
import type { DaemonFacts } from '../../../host/facts/daemon-facts.js';
import type { MemoryFacts } from '../../../host/facts/kernel-facts.js';
import { isUnseen } from '../../../host/facts/unread-fact.js';
import type { WorkloadFacts } from '../facts/workload-facts.js';
import { parseOomctl } from './oomctl.js';

/**
 * systemd-oomd kills whole cgroups, only below the cgroups that units ask it to monitor. Without swap it does not act
 * on swap.
 */
export function checkSystemdOomd(
  id: string,
  process: string,
  { settings }: DaemonFacts,
  { listed }: WorkloadFacts,
  { swapBytes }: Pick<MemoryFacts, 'swapBytes'>,
): Check {
  const off = 'systemctl disable --now systemd-oomd.service systemd-oomd.socket';
  if (isUnseen(settings))
    return degraded(id, `${process}: unknown which cgroups it monitors: ${settings.unseen}`, `see oomctl; ${off} stops it`, {
      monitored: null,
    });
  const monitored = parseOomctl(settings).filter(({ why }) => why === 'pressure' || swapBytes > 0n);
  const details = { monitored: monitored.map(({ path, why, limit }) => ({ path, why, limit })) };
  if (monitored.length === 0)
    return ok(id, `${process} monitors no cgroup${swapBytes === 0n ? ' for pressure, and there is no swap' : ''}`, details);
  const shared = monitored.flatMap((cgroup) => {
    const count = listed.filter(({ path }) => overlap(path, cgroup.path)).length;
    return count === 0
      ? []
      : [`${cgroup.path} (${cgroup.limit}), with ${String(count)} ${count === 1 ? 'workload' : 'workloads'} of evictd`];
  });
  const all = monitored.map(({ path, limit }) => `${path} (${limit})`).join(', ');
  if (shared.length === 0) return ok(id, `${process} monitors ${all}: no workload of evictd is there`, details);
  const summary = `${process} monitors ${shared.join(', ')}: it kills in its own order and ignores evictd's rules`;
  const fix = `set ManagedOOMSwap=auto and ManagedOOMMemoryPressure=auto for these units, or ${off}; ManagedOOMPreference=omit exempts a unit`;
  return degraded(id, summary, fix, details);
}

function overlap(workload: string, monitored: string): boolean {
  return workload === monitored || isBelow(workload, monitored) || isBelow(monitored, workload);
}
