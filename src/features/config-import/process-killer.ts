import { amount, percent } from './values.js';

/** A least amount of memory or swap: a share of the whole, or bytes. */
export type Least = { readonly percent: number } | { readonly bytes: number };

/** The hint for earlyoom and nohang, which choose among all processes: evictd ends only the configured workloads. */
export const NO_WORKLOADS: readonly string[] = [
  'evictd ends only what a source of `workloads` names, and never by the name of a process. Remove the # before one of ' +
    'these lines, or name your own slices and units (docs/systemd.md):',
  'workloads: [{ systemd: { slices: [user.slice] } }] # what users run',
  "workloads: [{ systemd: { slices: [user.slice, system.slice] } }] # and services; the system's own are protected",
];

/** `cooldown` of what both programs do without a rest. */
export const NO_REST = '0s';

/** What is still different about the next victim. */
export const NEXT_VICTIM =
  'evictd takes the next victim as soon as readings show what the last one has freed, at the earliest after 2 s; if that was too ' +
  'little, only after the condition has ceased to hold. The other program does not wait. A policy with SIGKILL does not shorten the ' +
  'grace period of a process that already has SIGTERM; in the other program it does.';

function atMost(metric: string, least: Least): string {
  return `${metric} <= ${'percent' in least ? percent(least.percent) : amount(least.bytes)}`;
}

/** What is never more than the whole is always met, and not written. */
function isLimit(least: Least): boolean {
  return !('percent' in least) || least.percent < 100;
}

/**
 * Memory and swap are both at most what is given. All amounts of one kind must be met: the lowest decides. Both programs
 * take a machine without swap as one whose swap is full. Undefined: there is nothing to compare.
 */
export function lowMemory(memory: readonly Least[], swap: readonly Least[]): string | undefined {
  const memories = memory.filter(isLimit).map((least) => atMost('memory.available', least));
  const swaps = swap.filter(isLimit).map((least) => atMost('swap.available', least));
  const parts = [...memories, ...(swaps.length === 0 ? [] : [`(${swaps.join(' & ')} | ${NO_SWAP})`])];
  return parts.length === 0 ? undefined : parts.join(' & ');
}

const NO_SWAP = '!swap.available exists';

/** Whether an amount can be fallen below. */
export function isPositive(least: Least): boolean {
  return 'percent' in least ? least.percent > 0 : least.bytes > 0;
}
