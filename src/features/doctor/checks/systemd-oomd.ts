import { isBelow } from '../../../core/workload/cgroup.js';
import { degraded, ok, type Check, command } from '../check.js';
import { type DaemonFacts, type MemoryFacts, isUnseen } from '../../../host/facts.js';
import type { WorkloadFacts } from '../machine-facts.js';

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
  const off = command('systemctl disable --now systemd-oomd.service systemd-oomd.socket');
  if (isUnseen(settings))
    return degraded(id, `${process}: unknown which cgroups it monitors: ${settings.unseen}`, `see oomctl; ${off} stops it`, {
      monitored: null,
    });
  const monitored = parseOomctl(settings).filter(({ why }) => why === 'pressure' || swapBytes !== 0n);
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

/** systemd-oomd kills a descendant of this cgroup. */
export interface MonitoredCgroup {
  readonly path: string;
  readonly why: 'swap' | 'pressure';
  /** 'pressure 60.00% for 30s' */
  readonly limit: string;
}

/**
 * Parses the output of `oomctl`: the monitored cgroups (ManagedOOMSwap=kill, ManagedOOMMemoryPressure=kill) and their
 * limits.
 */
export function parseOomctl(text: string): MonitoredCgroup[] {
  const found: MonitoredCgroup[] = [];
  const value = (key: string): string => new RegExp(`^${key}: *(.*)$`, 'm').exec(text)?.[1] ?? '?';
  let section: MonitoredCgroup['why'] | undefined;
  for (const line of text.split('\n')) {
    if (line.startsWith('Swap Monitored')) section = 'swap';
    else if (line.startsWith('Memory Pressure Monitored')) section = 'pressure';
    else if (/^\S/.test(line)) section = undefined;
    const [, path] = /^\s+Path: (.*)$/.exec(line) ?? [];
    if (path !== undefined && section !== undefined) {
      const limit =
        section === 'swap'
          ? `swap used ${value('Swap Used Limit')}`
          : `pressure ${value('Default Memory Pressure Limit')} for ${value('Default Memory Pressure Duration')}`;
      found.push({ path, why: section, limit });
    }
    const [, own] = /^\s+Memory Pressure Limit: (.*)$/.exec(line) ?? [];
    const last = found.at(-1);
    if (own !== undefined && last !== undefined) {
      found[found.length - 1] = { ...last, limit: `pressure ${own} for ${value('Default Memory Pressure Duration')}` };
    }
  }
  return found;
}
