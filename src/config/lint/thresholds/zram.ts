import { isResourceThreshold, operandsOf } from '../../../core/threshold/threshold.js';
import type { Finding, LintRule, LintSubject } from '../lint-rule.js';
import type { MachineFacts } from '../machine.js';

/**
 * Swap on zram, and memory.available as the kubelet counts it: a swapped page is neither anonymous nor file memory, so
 * that its place in zram's pool counts as available (bottlerocket-os/bottlerocket#4903).
 */
export function lintZram({ thresholds }: LintSubject, machine: MachineFacts | undefined): Finding[] {
  if (machine?.reserve?.zram !== true || machine.estimated === true || machine.pressureOf !== 'machine') return [];
  const operands = thresholds.filter(isResourceThreshold).flatMap(operandsOf);
  if (!operands.some(({ signal }) => signal === 'memory.available')) return [];
  if (operands.some(({ signal }) => signal === 'memory.kernelAvailable')) return [];
  return [
    {
      level: 'warn',
      code: 'EVICTD_LINT_ZRAM',
      message: 'swap is on zram: memory that zram uses counts as available in memory.available, which may never fall to its threshold',
      hint: 'set departures: {kernel-memory: true}, or with compatibility: evictd a threshold of memory.kernelAvailable',
      key: 'evictionHard.memory.available',
    },
  ];
}

export const zramRule: LintRule = { codes: ['EVICTD_LINT_ZRAM'], find: lintZram };
