import { readFileSync, rmSync } from 'node:fs';
import { onTestFinished } from 'vitest';
import { memoryController } from '../support/cgroup.js';
import { property, systemd, TestUnits, type UnitSections } from '../support/systemd.js';
import { until } from '../e2e/wait.js';

const MIB = 1024 * 1024;

/** A running unit, and whether it is the one that was started. */
export interface RunningUnit {
  readonly name: string;
  /** The same process since it was started, never restarted. */
  readonly untouched: () => boolean;
  /** Why it ended, as systemd has it: 'success', 'signal', 'oom-kill', … */
  readonly result: () => string;
  readonly ended: () => boolean;
}

/** Holds memory in one process of few instructions, which an emulated machine has at once: tail keeps what it may not write yet. */
export const holding = (mib: number): string =>
  `/bin/sh -c 'head -c ${String(mib * MIB)} /dev/zero | tail -c ${String(mib * MIB)} | sleep infinity'`;
/** Takes all the memory that there is, as fast as it goes: it waits for the end of a line. */
export const LEAKING = '/usr/bin/tail /dev/zero';

/** A service that holds memory. */
export interface Holder {
  readonly mib: number;
  readonly settings?: Readonly<Record<string, string>>;
}

/** Units in a slice of their own, removed with everything in it when the test is over. */
export class Scene {
  readonly slice = 'evictdtest.slice';
  readonly #units = new TestUnits();
  /** Written with the next start: to tell systemd of new units takes seconds in an emulated machine. */
  #unwritten: Record<string, UnitSections> = {};

  /** `limitMib`: the slice is a node of this size. */
  constructor(limitMib?: number) {
    onTestFinished(() => {
      this.#units.remove();
    });
    const limits = limitMib === undefined ? {} : { MemoryMax: `${String(limitMib)}M`, MemorySwapMax: '0' };
    this.#unwritten[this.slice] = { Slice: limits };
  }

  /** A service in the slice, not started: its name. */
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

  /** On the account of the slice. */
  usedBytes(): number {
    return usage(`/${this.slice}`);
  }

  /** Starts them all; resolves when they hold their memory. In the order in which they are named. */
  async holders(plans: Readonly<Record<string, Holder>>): Promise<readonly RunningUnit[]> {
    const names = Object.entries(plans).map(([name, { mib, settings }]) => this.service(name, holding(mib), settings));
    const units = this.start(...names);
    const sizes = Object.values(plans).map(({ mib }) => mib * MIB);
    await until('they hold their memory', () => names.every((name, index) => used(name) >= (sizes[index] ?? 0)));
    return units;
  }
}

/** Takes memory of the machine, on nobody's account whom evictd could end, until so much is left: what leaks then takes seconds, not minutes. */
export function leave(mib: number): void {
  const path = '/dev/shm/evictd-test-ballast';
  const available = Number(/^MemAvailable:\s*(\d+) kB/m.exec(readFileSync('/proc/meminfo', 'utf8'))?.[1]) / 1024;
  onTestFinished(() => {
    rmSync(path, { force: true });
  });
  systemd('fallocate', '--length', `${String(Math.max(1, Math.round(available - mib)))}MiB`, path);
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

/** Bytes on the account of a unit. */
export function used(unit: string): number {
  return usage(property(unit, 'ControlGroup'));
}

function usage(path: string): number {
  const controller = memoryController();
  if (controller === undefined) throw new Error('no memory controller');
  const file = controller.version === 1 ? 'memory.usage_in_bytes' : 'memory.current';
  try {
    return Number(readFileSync(`${controller.mount}${path}/${file}`, 'utf8'));
  } catch {
    return 0; // not there yet
  }
}

/** All that the kernel has killed for want of memory since it booted. */
export function kernelKills(): number {
  return Number(/^oom_kill (\d+)$/m.exec(readFileSync('/proc/vmstat', 'utf8'))?.[1]);
}
