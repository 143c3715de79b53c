import { amountOf, amountOfBytes } from '../../../core/quantity/amount.js';
import { isListed, limitOf, valueText, type Threshold } from '../../../core/threshold/threshold.js';
import type { LintRule, Finding, LintSubject } from '../lint-rule.js';
import { floorOf, isHardMemory, limitIn, limitText, thresholdKey, thresholdText } from '../limit.js';
import type { MachineFacts } from '../machine.js';

/** Thresholds that are never met, always met, or once met stay met. */
export function lintReach(subject: LintSubject, machine: MachineFacts | undefined): Finding[] {
  const found = subject.thresholds
    .filter((threshold) => !isListed(threshold))
    .flatMap((threshold): Finding[] => {
      const key = thresholdKey(threshold, subject);
      const own = unreachable(threshold, machine) ?? alwaysMet(threshold, machine);
      return own === undefined ? neverRepaid(threshold, machine) : [{ key, ...own }];
    });
  // The hard and the soft threshold share a minimum reclaim: report it once.
  return found.filter(({ key, code }, index) => found.findIndex((other) => other.key === key && other.code === code) === index);
}

/** A threshold is met below its value, not at it: a value equal to the floor is never met. */
function unreachable(threshold: Threshold, machine: MachineFacts | undefined): Omit<Finding, 'key'> | undefined {
  const { signal, value } = threshold;
  const capacity = machine?.capacities.get(signal);
  const limit = limitIn(value, capacity);
  const floor = floorOf(signal, machine);
  if (limit === undefined) return undefined;
  const subject = thresholdText(threshold, capacity);
  const level = isHardMemory(threshold) ? 'error' : 'warn';
  if (limit <= 0n) {
    return {
      level,
      code: 'EVICTD_LINT_UNREACHABLE',
      message: `${subject} is never met: the available amount is never below 0`,
      hint: 'write 0% to disable it',
    };
  }
  if (limit <= floor.amount) {
    return {
      level,
      code: 'EVICTD_LINT_UNREACHABLE',
      message: `${subject} is never met: ${floor.text} always counts as available, but no process can use it, so the kernel's OOM killer runs first`,
      hint: `set a value some hundred MiB above ${amountOfBytes(floor.amount)}`,
    };
  }
  // A cgroup counts the kernel's memory as used: kernelBytes is 0n.
  const kernelBytes = machine?.reserve?.kernelBytes ?? 0n;
  if (floor.amount === 0n || limit > floor.amount + kernelBytes) return undefined;
  const unusable = amountOfBytes(floor.amount + kernelBytes);
  const parts = `${floor.text.replace(/ = .*/, '')}, and ${amountOfBytes(kernelBytes)} of slab, stacks and page tables`;
  return {
    level: 'warn',
    code: 'EVICTD_LINT_KERNEL_MEMORY',
    message: `${subject} is rarely met before the kernel's OOM killer runs: ${unusable} now counts as available that no process can use (${parts})`,
    hint: `set a value above ${unusable}`,
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
    hint: 'set a value below the capacity, or a percentage',
  };
}

function neverRepaid(threshold: Threshold, machine: MachineFacts | undefined): Finding[] {
  const { signal, value, minReclaim } = threshold;
  const capacity = machine?.capacities.get(signal);
  if (minReclaim === undefined || capacity === undefined) return [];
  const limitWithReclaim = limitOf(threshold, capacity, true);
  if (limitWithReclaim < capacity) return [];
  const sum = `${limitText(signal, value, capacity)} + minimum reclaim ${limitText(signal, minReclaim, capacity)} = ${amountOf(signal, limitWithReclaim)}`;
  return [
    {
      level: 'warn',
      code: 'EVICTD_LINT_NEVER_REPAID',
      message: `${signal}<${valueText(value)} once met stays met until nothing is in use: ${sum} of a capacity of ${amountOf(signal, capacity)}`,
      hint: `lower evictionMinimumReclaim of ${signal}`,
      key: `evictionMinimumReclaim.${signal}`,
    },
  ];
}

export const reachRule: LintRule = {
  codes: ['EVICTD_LINT_UNREACHABLE', 'EVICTD_LINT_KERNEL_MEMORY', 'EVICTD_LINT_ALWAYS_MET', 'EVICTD_LINT_NEVER_REPAID'],
  find: lintReach,
};
