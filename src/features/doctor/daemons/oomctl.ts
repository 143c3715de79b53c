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
