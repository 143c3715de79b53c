import { amountOf, amountOfBytes } from '../core/amount.js';
import { isListed, limitOf, valueText, type Threshold } from '../core/threshold.js';
import type { Finding } from './finding.js';
import { floorOf } from './floor.js';
import { limitIn, limitText, thresholdKey, thresholdText } from './limit.js';
import type { MachineFacts } from './machine.js';
import type { LintSubject } from './subject.js';

/** Thresholds that can never be met, that are always met, and those that, once met, can never be repaid. */
export function lintReach(subject: LintSubject, machine: MachineFacts | undefined): Finding[] {
  const found = subject.thresholds
    .filter((threshold) => !isListed(threshold))
    .flatMap((threshold): Finding[] => {
      const key = thresholdKey(threshold, subject);
      const own = unreachable(threshold, machine) ?? alwaysMet(threshold, machine);
      return own === undefined ? neverRepaid(threshold, machine) : [{ key, ...own }];
    });
  // A minimum reclaim is that of the hard and of the soft threshold, and wrong once.
  return found.filter(({ key, code }, index) => found.findIndex((other) => other.key === key && other.code === code) === index);
}

/** A threshold is met at strictly less than its value, so that one of exactly the floor is not. */
function unreachable(threshold: Threshold, machine: MachineFacts | undefined): Omit<Finding, 'key'> | undefined {
  const { signal, value } = threshold;
  const capacity = machine?.capacities.get(signal);
  const limit = limitIn(value, capacity);
  const floor = floorOf(signal, machine);
  if (limit === undefined) return undefined;
  const subject = thresholdText(threshold, capacity);
  if (limit <= 0n) {
    return {
      level: 'warn',
      code: 'EVICTD_LINT_UNREACHABLE',
      message: `${subject} is never met: less than nothing is never available`,
      hint: 'write 0% if it is to be off',
    };
  }
  if (limit <= floor.amount) {
    return {
      level: 'warn',
      code: 'EVICTD_LINT_UNREACHABLE',
      message: `${subject} is never met: ${floor.text} always counts as available and no process can have it, so the kernel's OOM killer comes first`,
      hint: `choose more than ${amountOfBytes(floor.amount)}, and some hundred MiB beyond it to have time`,
    };
  }
  // On cgroups the kernel's memory counts as used; kernelBytes is 0n there.
  const kernelBytes = machine?.reserve?.kernelBytes ?? 0n;
  if (floor.amount === 0n || limit > floor.amount + kernelBytes) return undefined;
  const sum = `${floor.text.replace(/ = .*/, '')} + ${amountOfBytes(kernelBytes)} = ${amountOfBytes(floor.amount + kernelBytes)}`;
  return {
    level: 'info',
    code: 'EVICTD_LINT_KERNEL_MEMORY',
    message: `${subject} is hardly ever met: with what the kernel holds for itself now (slab, stacks, page tables) ${sum} counts as available and no process can have it`,
    hint: `choose more than ${amountOfBytes(floor.amount + kernelBytes)}`,
  };
}

function alwaysMet(threshold: Threshold, machine: MachineFacts | undefined): Omit<Finding, 'key'> | undefined {
  const { signal, value } = threshold;
  const capacity = machine?.capacities.get(signal);
  const limit = limitIn(value, capacity);
  if (limit === undefined || capacity === undefined || limit < capacity) return undefined;
  return {
    level: 'warn',
    code: 'EVICTD_LINT_ALWAYS_MET',
    message: `${thresholdText(threshold, capacity)} is met as soon as anything is in use: the capacity is ${amountOf(signal, capacity)}`,
    hint: 'choose less than the capacity, or a percentage',
  };
}

function neverRepaid(threshold: Threshold, machine: MachineFacts | undefined): Finding[] {
  const { signal, value, minReclaim } = threshold;
  const capacity = machine?.capacities.get(signal);
  if (minReclaim === undefined || capacity === undefined) return [];
  const owed = limitOf(threshold, capacity, true);
  if (owed < capacity) return [];
  const sum = `${limitText(signal, value, capacity)} + minimum reclaim ${limitText(signal, minReclaim, capacity)} = ${amountOf(signal, owed)}`;
  return [
    {
      level: 'warn',
      code: 'EVICTD_LINT_NEVER_REPAID',
      message: `${signal}<${valueText(value)} once met is never repaid: ${sum} of a capacity of ${amountOf(signal, capacity)}, so it stays in force until nothing is in use`,
      hint: `lower evictionMinimumReclaim of ${signal}`,
      key: `evictionMinimumReclaim.${signal}`,
    },
  ];
}
