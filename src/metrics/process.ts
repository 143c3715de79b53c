import { readdirSync } from 'node:fs';

/** When this process was started, in seconds since 1970, by the wall clock at the start: a clock that is set later does not change it. */
export const PROCESS_START_SECONDS = Date.now() / 1000 - process.uptime();

export function processCpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

export function processResidentBytes(): number {
  return process.memoryUsage.rss();
}

/** Without the descriptor that reads the directory. Undefined: no procfs, or no descriptor left to read it with. */
export function processOpenFds(): number | undefined {
  try {
    return readdirSync('/proc/self/fd').length - 1;
  } catch {
    return undefined;
  }
}
