import { existsSync } from 'node:fs';
import type { UnitSections } from '../support/systemd.js';
import { holding } from './scene.js';

/** A node of 512 MiB that systemd makes, with its units in it. evictd acts when they use more than 128 MiB: less than 384 are available. */
export const SLICE = 'evictdtest.slice';
export const NODE: UnitSections = { Slice: { MemoryMax: '512M' } };

export const MIB_HELD = 160;

/** A service that holds more than that, as soon as it is started; it ends by SIGTERM. */
export function leaking(
  settings: Readonly<Record<string, string>> = {},
  unit: Readonly<Record<string, string>> = {},
  mib = MIB_HELD,
): UnitSections {
  return { Unit: unit, Service: { Slice: SLICE, ExecStart: holding(mib), ...settings } };
}

/** A service that uses next to nothing. */
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

/** A program in front of evictd that hides systemd from it: its own socket, and the bus. */
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
