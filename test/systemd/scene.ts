import { mkdirSync, readFileSync, rmdirSync } from 'node:fs';
import { onTestFinished } from 'vitest';
import { memoryController } from '../support/cgroup.js';
import { property, systemd, TestUnits, type UnitSections } from '../support/systemd.js';
import { until } from '../e2e/wait.js';

const MIB = 1024 * 1024;

/** A running unit, and whether it is the one that was started. */
export interface RunningUnit {
  readonly name: string;
  /** The same process since its start. */
  readonly untouched: () => boolean;
  /** Result of systemd: 'success', 'signal', 'oom-kill', … */
  readonly result: () => string;
  readonly ended: () => boolean;
}

/** Holds memory in one process that starts fast on emulated machines: tail keeps what it cannot write yet. */
export const holding = (mib: number): string =>
  `/bin/sh -c 'head -c ${String(mib * MIB)} /dev/zero | tail -c ${String(mib * MIB)} | sleep infinity'`;
/** Takes all memory as fast as it can: tail waits for the end of a line. */
export const LEAKING = '/usr/bin/tail /dev/zero';

/** A service that holds memory. */
export interface Holder {
  readonly mib: number;
  readonly settings?: Readonly<Record<string, string>>;
}

/** Units in a slice, removed with everything in it after the test. */
export class Scene {
  readonly slice = 'evictdtest.slice';
  readonly #units = new TestUnits();
  /** Written at the next start: a daemon-reload takes seconds on an emulated machine. */
  #unwritten: Record<string, UnitSections> = {};

  /** `limitMib`: the slice is a node of this size. `settings`: of the slice. */
  constructor(limitMib?: number, settings: Readonly<Record<string, string>> = {}) {
    onTestFinished(() => {
      this.#units.remove();
    });
    const limits = limitMib === undefined ? {} : { MemoryMax: `${String(limitMib)}M`, MemorySwapMax: '0' };
    this.#unwritten[this.slice] = { Slice: { ...limits, ...settings } };
  }

  /** Adds a service to the slice without starting it; returns its name. */
  service(name: string, execStart: string, settings: Readonly<Record<string, string>> = {}): string {
    const unit = `evictd-test-${name}.service`;
    this.#unwritten[unit] = { Service: { Slice: this.slice, ExecStart: execStart, OOMPolicy: 'continue', ...settings } };
    return unit;
  }

  start(...names: readonly string[]): readonly RunningUnit[] {
    if (Object.keys(this.#unwritten).length > 0) this.#units.writeAll(this.#unwritten);
    this.#unwritten = {};
    this.#units.start(this.slice, ...names);
    return names.map(running);
  }

  /** Usage of the slice. */
  usedBytes(): number {
    return usage(`/${this.slice}`);
  }

  /** Starts units; resolves, in the order of `units`, when they hold their memory. */
  async holders(plans: Readonly<Record<string, Holder>>): Promise<readonly RunningUnit[]> {
    const names = Object.entries(plans).map(([name, { mib, settings }]) => this.service(name, holding(mib), settings));
    const units = this.start(...names);
    const sizes = Object.values(plans).map(({ mib }) => mib * MIB);
    await until('the units hold their memory', () => names.every((name, index) => used(name) >= (sizes[index] ?? 0)));
    return units;
  }
}

/** Fills memory outside of all workloads until this much is left: a leak then takes seconds, not minutes. */
export function leave(mib: number): void {
  const directory = '/run/evictd-test-ballast';
  const available = Number(/^MemAvailable:\s*(\d+) kB/m.exec(readFileSync('/proc/meminfo', 'utf8'))?.[1]) / 1024;
  mkdirSync(directory);
  systemd('mount', '-t', 'tmpfs', '-o', 'size=100%', 'evictd-test', directory); // /dev/shm has half of the memory
  onTestFinished(() => {
    systemd('umount', directory);
    rmdirSync(directory);
  });
  systemd('fallocate', '--length', `${String(Math.max(1, Math.round(available - mib)))}MiB`, `${directory}/ballast`);
}

function running(name: string): RunningUnit {
  const pid = property(name, 'MainPID');
  return {
    name,
    untouched: () => property(name, 'MainPID') === pid && property(name, 'ActiveState') === 'active' && property(name, 'NRestarts') === '0',
    result: () => property(name, 'Result'),
    ended: () => ['failed', 'inactive'].includes(property(name, 'ActiveState')),
  };
}

/** Memory usage of a unit in bytes. */
export function used(unit: string): number {
  return usage(property(unit, 'ControlGroup'));
}

/** Memory usage of a cgroup in bytes. */
export function usage(path: string): number {
  const controller = memoryController();
  if (controller === undefined) throw new Error('no memory controller');
  const file = controller.version === 1 ? 'memory.usage_in_bytes' : 'memory.current';
  try {
    return Number(readFileSync(`${controller.mount}${path}/${file}`, 'utf8'));
  } catch {
    return 0; // not there yet
  }
}

/** OOM kills of the kernel since boot. */
export function kernelKills(): number {
  return Number(/^oom_kill (\d+)$/m.exec(readFileSync('/proc/vmstat', 'utf8'))?.[1]);
}
