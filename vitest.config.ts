import { defineConfig } from 'vitest/config';
import { Tally } from './test/reporter.js';

/** Tests that use real cgroups, processes and pressure: one file at a time, after all others, because they measure memory and time. */
const system = ['test/native/**/*.test.ts', 'test/e2e/**/*.test.ts'];

export default defineConfig({
  test: {
    reporters: ['default', new Tally()],
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: system,
          maxWorkers: '100%',
          testTimeout: 30_000, // nothing here is slow; the machine may be busy
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          name: 'system',
          include: system,
          fileParallelism: false,
          testTimeout: 60_000,
          hookTimeout: 60_000,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
