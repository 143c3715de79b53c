import { existsSync, readdirSync, closeSync, constants, openSync } from 'node:fs';
import { release } from 'node:os';
import type { KernelFacts, KernelLogFacts, ClockFacts } from '../../facts.js';
import { attempt, errnoName, errnoText } from '../../../errors.js';
import type { Binding } from '../../../native/binding.js';
import { readHierarchies } from '../cgroup/hierarchies.js';
import { numberIfAny, textIfAny } from './text-file.js';

/** @param native  undefined: the addon cannot be loaded, so that what it would try is unknown */
export function readKernel(native: Pick<Binding, 'Pidfd'> | undefined): KernelFacts {
  const pidfd = native && triedPidfd(native);
  return {
    release: release(),
    features: {
      pidfd: pidfd?.opens ?? null,
      'cgroup.kill': hasCgroupKill(readHierarchies().unified?.mountPoint),
      process_mrelease: pidfd?.releases ?? null,
    },
  };
}

/** Tries it on this process, which is not dying: process_mrelease answers EINVAL and does nothing. */
function triedPidfd({ Pidfd }: Pick<Binding, 'Pidfd'>): { readonly opens: boolean; readonly releases: boolean } {
  const own = attempt(() => new Pidfd(process.pid));
  if (own === undefined) return { opens: false, releases: false };
  try {
    own.release();
    return { opens: true, releases: true };
  } catch (error) {
    return { opens: true, releases: errnoName(error) === 'EINVAL' };
  } finally {
    own.close();
  }
}

/** Every cgroup but the root has the file. null: no such cgroup exists. */
function hasCgroupKill(mountPoint: string | undefined): boolean | null {
  if (mountPoint === undefined) return null;
  const child = attempt(() => readdirSync(mountPoint, { withFileTypes: true }))?.find((entry) => entry.isDirectory());
  return child === undefined ? null : existsSync(`${mountPoint}/${child.name}/cgroup.kill`);
}

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

export function readClock(native: Pick<Binding, 'bootTimeNs'> | undefined): ClockFacts {
  return { bootId: textIfAny('/proc/sys/kernel/random/boot_id')?.trim(), bootTimeNs: native?.bootTimeNs() };
}
