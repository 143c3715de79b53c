import { closeSync, constants, openSync } from 'node:fs';
import type { KernelLogFacts } from '../../facts/kernel-facts.js';
import { errnoName, errnoText } from '../../../errors.js';
import { numberIfAny } from './text-file.js';

export function readKernelLog(): KernelLogFacts {
  const restrict = numberIfAny('/proc/sys/kernel/dmesg_restrict');
  return { refused: refusal(), restricted: restrict === undefined ? undefined : restrict !== 0 };
}

/** The kernel decides at open(2) (kernel/printk/printk.c, devkmsg_open). */
function refusal(): string | undefined {
  try {
    closeSync(openSync('/dev/kmsg', constants.O_RDONLY | constants.O_NONBLOCK));
    return undefined;
  } catch (error) {
    const number = error instanceof Error && 'errno' in error && typeof error.errno === 'number' ? error.errno : undefined;
    return `/dev/kmsg: ${number === undefined ? (errnoName(error) ?? String(error)) : errnoText(-number)}`;
  }
}
