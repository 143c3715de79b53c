import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { Tally } from './test/reporter.js';
import { SLOWNESS } from './test/support/slowness.js';
import type { Suite } from './test/vm/suites.js';

/** Tests with real cgroups, processes and pressure: one file at a time, after the unit tests, because they measure memory. */
const system = ['test/native/**/*.test.ts', 'test/e2e/**/*.test.ts', 'test/systemd/**/*.test.ts', 'test/endurance/**/*.test.ts'];

/**
 * The system tests of `make test`: the addon without long tests and storms, and evictd from beginning to end.
 * `make proof ARGS=system` runs the others.
 */
const core = [
  'test/native/!(build|churn|close|environment|interrupted|kill-hazards|leak|storm).test.ts',
  'test/e2e/{check,dry-run,eviction,journal,reload,restart,soft}.test.ts',
];

/**
 * Tests of the process itself (its descriptors, children, environment), of the addon with real cgroups and processes, or with
 * modules replaced. Each file has a process of its own. All other unit tests share processes and loaded modules.
 */
const ownProcess = [
  ...['host', 'evict', 'workloads', 'features', 'monitor', 'compose', 'node', 'fuzz', 'launch'].map(
    (folder) => `test/${folder}/**/*.test.ts`,
  ),
  'test/core/signal/toy-signal.test.ts',
];

/** They boot machines: `make vm` alone starts them. */
const power = 'test/power/**/*.test.ts';

/** They need Windows: `make windows` runs them without vitest. */
const windows = 'test/windows/**/*.test.ts';

/** They need packages that `make packages` builds first. */
const packages = 'test/packages/*.test.ts';

/** `make vm`: no compiler is there, and what is the same on every machine and does very much takes too long where they are emulated. */
const notInMachines = [
  'test/native/build.test.ts',
  'test/native/directory-usage.test.ts',
  'test/native/environment.test.ts',
  'test/native/filesystem-hang.test.ts',
  'test/native/leak.test.ts',
  'test/native/locked-text.test.ts',
  'test/e2e/api-server.test.ts',
  'test/e2e/client-node.test.ts',
  'test/e2e/completion.test.ts',
  'test/e2e/journal-hazards.test.ts',
  'test/e2e/manual.test.ts',
  'test/e2e/killed-while-writing.test.ts',
  'test/e2e/prometheus.test.ts',
  'test/e2e/replay.test.ts',
  'test/e2e/status-page.test.ts',
  'test/e2e/top.test.ts',
  'test/host/linux/oom/oom-domain.test.ts',
  'test/host/linux/oom/oom-killer.test.ts',
  'test/host/linux/oom/oom-task.test.ts',
  'test/host/linux/cgroup/pids.test.ts',
  'test/host/linux/disk/filesystem.test.ts',
  'test/host/linux/memory/memory-reserve.test.ts',
  'test/host/linux/memory/page-size.test.ts',
  'test/host/linux/memory/usage-threshold.test.ts',
  'test/host/linux/pressure/pressure.test.ts',
  'test/host/linux/pressure/stall-ring.test.ts',
  'test/host/linux/process/privilege.test.ts',
  'test/host/linux/process/service-manager.test.ts',
  'test/host/linux/sampling/watch-slot.test.ts',
  'test/workloads/cgroup/protection.test.ts',
  'test/workloads/workload-rules.test.ts',
];

/** A machine's, as test/vm/run.ts hands it over. */
const suite = JSON.parse(process.env.EVICTD_VM_SUITE ?? 'null') as Suite | null;
const absent = suite === null ? [] : [...notInMachines, ...(suite.except ?? []).map((start) => `${start}*test.ts`)];

/** In a machine node itself loads what test/vm/bundles.ts has made of the tests. */
const bundled = suite !== null && suite.outside !== true;
const written = (files: readonly string[]): string[] => (bundled ? files.map((file) => file.replace(/\.ts$/, '.js')) : [...files]);

const notUnit = [...system, ...absent, power, windows, packages];

/** Three for two processors: many of these tests wait for processes. */
const unit = {
  maxWorkers: suite === null ? Math.ceil(availableParallelism() * 1.5) : '100%',
  testTimeout: 120_000 * SLOWNESS, // nothing here is slow; the machine may be busy
  hookTimeout: 120_000 * SLOWNESS,
  sequence: { groupOrder: 0 },
};

const oneAtATime = {
  fileParallelism: false,
  testTimeout: 60_000 * SLOWNESS,
  hookTimeout: 60_000 * SLOWNESS,
  sequence: { groupOrder: 1 },
};

export default defineConfig({
  test: {
    reporters: [suite ? 'verbose' : 'default', new Tally(process.env.EVICTD_TEST_RESULTS)],
    ...(bundled && { execArgv: ['--enable-source-maps'], experimental: { viteModuleRunner: false, nodeLoader: false } }),
    projects: [
      {
        test: {
          ...unit,
          name: 'unit',
          include: written(['test/**/*.test.ts']),
          exclude: written([...notUnit, ...ownProcess]),
          isolate: suite !== null,
        },
      },
      { test: { ...unit, name: 'unit-process', include: written(ownProcess), exclude: written(notUnit) } },
      ...(suite === null
        ? [{ test: { name: 'core', include: core, ...oneAtATime } }, { test: { name: 'packages', include: [packages], ...oneAtATime } }]
        : []),
      { test: { name: 'proof', include: written(system), exclude: suite === null ? core : written(absent), ...oneAtATime } },
      ...(suite?.outside ? [{ test: { name: 'power', include: [power], fileParallelism: false, testTimeout: 900_000 } }] : []),
    ],
  },
});
