import type { MemoryFacts } from '../../../host/facts/kernel-facts.js';
import type { DaemonLimit } from './precedence.js';

const DEFAULT_PERCENT = 10;

/**
 * When earlyoom sends its first SIGTERM (earlyoom(1)): MemAvailable below the lower of -m PERCENT (default 10) and -M
 * KiB and, with swap, free swap below -s PERCENT (default 10) or -S KiB. This takes percentages of MemTotal; earlyoom
 * 1.8 takes them of a smaller total.
 */
export function earlyoomLimit(
  args: readonly string[],
  { totalBytes, swapBytes }: Pick<MemoryFacts, 'totalBytes' | 'swapBytes'>,
): DaemonLimit {
  const percent = option(args, 'm');
  const kibibytes = option(args, 'M');
  const limits = [
    ...(percent === undefined && kibibytes !== undefined ? [] : [ofTotal(totalBytes, percent ?? DEFAULT_PERCENT)]),
    ...(kibibytes === undefined ? [] : [BigInt(Math.floor(kibibytes)) * 1024n]),
  ];
  const bytes = limits.reduce((least, limit) => (limit < least ? limit : least));
  const swap = swapBytes === 0n ? '' : ` and low swap (-s ${String(option(args, 's') ?? DEFAULT_PERCENT)})`;
  const limit = percent === undefined && kibibytes !== undefined ? `-M ${String(kibibytes)}` : `-m ${String(percent ?? DEFAULT_PERCENT)}`;
  return { bytes, text: `on low MemAvailable (${limit})${swap}` };
}

/** '-m 8,4' or '-m8': the first value is for SIGTERM. */
function option(args: readonly string[], letter: string): number | undefined {
  const index = args.findIndex((arg) => arg.startsWith(`-${letter}`));
  if (index === -1) return undefined;
  const text = args[index] === `-${letter}` ? args[index + 1] : args[index]?.slice(2);
  const value = Number.parseFloat(text ?? '');
  return Number.isNaN(value) ? undefined : value;
}

function ofTotal(totalBytes: bigint, percent: number): bigint {
  return (totalBytes * BigInt(Math.round(percent * 100))) / 10_000n;
}
