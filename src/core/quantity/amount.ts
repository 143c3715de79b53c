import { SIGNAL_FACTS, type Resource, type Signal } from '../signal/signal.js';

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'] as const;

/** Bytes with three significant digits, rounded down: '11.8MiB', '100MiB', '0B', '-3.5GiB'. */
export function amountOfBytes(bytes: bigint): string {
  const sign = bytes < 0n ? '-' : '';
  const size = bytes < 0n ? -bytes : bytes;
  let power = 0;
  for (let rest = size >> 10n; rest > 0n && power < UNITS.length - 1; rest >>= 10n) power += 1;
  const hundredths = Number((size * 100n) >> BigInt(10 * power));
  const digits = hundredths >= 10_000 ? 0 : hundredths >= 1_000 ? 1 : 2;
  const scale = 10 ** (2 - digits);
  const text = ((Math.floor(hundredths / scale) * scale) / 100).toFixed(digits);
  return `${sign}${text.includes('.') ? text.replace(/\.?0+$/, '') : text}${UNITS[power] ?? ''}`;
}

/** The amount in the unit of the signal: '11.8MiB', '1200 inodes', '300 processes', '41.5%'. */
export function amountOf(signal: Signal, amount: bigint): string {
  const { unit } = SIGNAL_FACTS[signal];
  if (unit === 'share') return `${String(percentOf(amount))}%`;
  return unit === 'bytes' ? amountOfBytes(amount) : counted(amount, unit);
}

/** The share in percent, rounded down to two decimals. */
export function percentOf(share: bigint): number {
  return Number(share / 100_000n) / 100;
}

export function amountOfResource(resource: Resource, amount: bigint): string {
  switch (resource) {
    case 'memory':
    case 'ephemeral-storage':
      return amountOfBytes(amount);
    case 'inodes':
      return counted(amount, 'inodes');
    case 'pids':
      return counted(amount, 'processes');
  }
}

const ONE = { inodes: 'inode', processes: 'process', evictions: 'eviction' } as const;

/** '1 process', '300 processes'. */
export function counted(amount: bigint, unit: keyof typeof ONE): string {
  return `${String(amount)} ${amount === 1n ? ONE[unit] : unit}`;
}
