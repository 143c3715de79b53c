import { existsSync } from 'node:fs';
import type { UnitSections } from '../support/systemd.js';
import { holding } from './scene.js';

/** A slice of 512 MiB as the node. The threshold is met when its units use more than 128 MiB. */
export const SLICE = 'evictdtest.slice';
export const NODE: UnitSections = { Slice: { MemoryMax: '512M' } };

export const MIB_HELD = 160;

/** A service that holds more than that from its start, and ends on SIGTERM. */
export function leaking(
  settings: Readonly<Record<string, string>> = {},
  unit: Readonly<Record<string, string>> = {},
  mib = MIB_HELD,
): UnitSections {
  return { Unit: unit, Service: { Slice: SLICE, ExecStart: holding(mib), ...settings } };
}

/** A service with little memory. */
export function small(settings: UnitSections[string] = {}, unit: Readonly<Record<string, string>> = {}): UnitSections {
  return { Unit: unit, Service: { Slice: SLICE, ExecStart: '/bin/sleep infinity', ...settings } };
}

export function guardingSlice(more: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return {
    node: { cgroup: `/${SLICE}` },
    workloads: [{ systemd: { slices: [SLICE] } }],
    monitoringInterval: '1s',
    ...more,
  };
}

/** Soft above 128 MiB, hard far above. */
export function softly(more: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return guardingSlice({
    evictionHard: { 'memory.available': '32Mi' },
    evictionSoft: { 'memory.available': '384Mi' },
    evictionSoftGracePeriod: { 'memory.available': '500ms' },
    evictionMaxPodGracePeriod: 120,
    ...more,
  });
}

/** A command before evictd that hides the sockets of systemd and of the bus. */
export const WITHOUT_SYSTEMD: readonly string[] = [
  'unshare',
  '--mount',
  '/bin/sh',
  '-c',
  ['/run/systemd/private', '/run/dbus/system_bus_socket']
    .filter((path) => existsSync(path))
    .map((path) => `mount --bind /dev/null ${path} && `)
    .join('') + 'exec "$@"',
  'sh',
];
