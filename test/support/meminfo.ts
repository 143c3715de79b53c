/** Of /proc/meminfo, in kB. */
export type Meminfo = Readonly<Record<string, number>>;

export function meminfoText(fields: Meminfo): string {
  return Object.entries(fields)
    .map(([key, kib]) => `${`${key}:`.padEnd(16)}${String(kib).padStart(8)} kB\n`)
    .join('');
}

/** A container of lxcfs 3: MemTotal is its own, AnonPages the machine's. */
export const MIXED_MEMINFO = {
  MemTotal: 2097152,
  MemFree: 1600000,
  MemAvailable: 1650000,
  Buffers: 0,
  Cached: 80000,
  SwapCached: 0,
  'Inactive(file)': 20000,
  AnonPages: 8000000,
  SwapTotal: 0,
  SwapFree: 0,
} as const;
