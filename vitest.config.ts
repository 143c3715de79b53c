import { defineConfig } from 'vitest/config';
import { Tally } from './test/reporter.js';
import { SLOWNESS } from './test/support/slowness.js';
import type { Suite } from './test/vm/suites.js';

/** Tests that use real cgroups, processes and pressure: one file at a time, after all others, because they measure memory and time. */
const system = ['test/native/**/*.test.ts', 'test/e2e/**/*.test.ts', 'test/systemd/**/*.test.ts', 'test/endurance/**/*.test.ts'];

/** `make vm`: no compiler is there, and what is the same on every machine and does very much takes too long where they are emulated. */
const notInMachines = [
  'test/native/build.test.ts',
  'test/native/directory-usage.test.ts',
  'test/native/environment.test.ts',
  'test/native/filesystem-hang.test.ts',
  'test/native/leak.test.ts',
  'test/native/locked-text.test.ts',
  'test/e2e/journal-hazards.test.ts',
  'test/e2e/killed-while-writing.test.ts',
  'test/e2e/replay.test.ts',
  'test/host/linux/oom-killer/*.test.ts',
  'test/host/linux/{filesystem,memory-reserve,page-size,pids,pressure,privilege,service-manager,stall-ring,usage-threshold,watch-slot}.test.ts',
  'test/workloads/{protection,rules}.test.ts',
];

/** A machine's, as test/vm/run.ts hands it over. */
const suite = JSON.parse(process.env.EVICTD_VM_SUITE ?? 'null') as Suite | null;
const absent = suite === null ? [] : [...notInMachines, ...(suite.except ?? []).map((start) => `${start}*test.ts`)];

export default defineConfig({
  test: {
    reporters: [suite ? 'verbose' : 'default', new Tally(process.env.EVICTD_TEST_RESULTS)],
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: [...system, ...absent],
          maxWorkers: '100%',
          testTimeout: 30_000 * SLOWNESS, // nothing here is slow; the machine may be busy
          hookTimeout: 30_000 * SLOWNESS,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          name: 'system',
          include: system,
          exclude: absent,
          fileParallelism: false,
          testTimeout: 60_000 * SLOWNESS,
          hookTimeout: 60_000 * SLOWNESS,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
