import type { MemoryFacts } from '../../../host/facts/kernel-facts.js';
import type { DaemonLimit } from './precedence.js';

/**
 * When nohang sends its first SIGTERM: soft_threshold_min_mem in '%' of MemTotal or in 'M' (MiB). undefined: not set.
 */
export function nohangLimit(config: string, { totalBytes }: Pick<MemoryFacts, 'totalBytes'>): DaemonLimit | undefined {
  const [, number = '', unit = ''] = /^soft_threshold_min_mem\s*=\s*([\d.]+)\s*([%M])/m.exec(config) ?? [];
  const value = Number.parseFloat(number);
  if (Number.isNaN(value)) return undefined;
  const bytes = unit === '%' ? (totalBytes * BigInt(Math.round(value * 100))) / 10_000n : BigInt(Math.round(value)) * 1_048_576n;
  return { bytes, text: `on low MemAvailable (soft_threshold_min_mem = ${number} ${unit})` };
}
