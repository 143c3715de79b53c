// Stands in for 'vitest' if its bundler, which is native code, cannot run on a processor or system: the runner and the
// matchers of vitest, which are plain JavaScript. Runs the files of the bundle; the last line is "N passed, N failed".
import { ASYMMETRIC_MATCHERS_OBJECT, JestAsymmetricMatchers, JestChaiExpect, JestExtend } from '@vitest/expect';
import { getCurrentTest, startTests, type File, type Suite, type VitestRunner } from '@vitest/runner';
import * as chai from 'chai';

export { afterAll, beforeAll, beforeEach, describe, onTestFinished, test } from '@vitest/runner';

for (const plugin of [JestExtend, JestChaiExpect, JestAsymmetricMatchers]) chai.use(plugin);

/** `expect` of vitest without polls and snapshots. */
export const expect = Object.assign(
  (value: unknown, message?: string): unknown => {
    const assertion = chai.expect(value, message) as { withTest?: (test: unknown) => unknown };
    return assertion.withTest?.(getCurrentTest()) ?? assertion;
  },
  chai.expect,
  (globalThis as unknown as Record<symbol, object>)[ASYMMETRIC_MATCHERS_OBJECT],
);

// Tests start more Nodes by this path: the kernel of the host cannot run this one directly.
process.execPath = process.env.EVICTD_TEST_NODE ?? process.execPath;

const SLOW_MS = 120_000; // emulated

const cleanups: (() => unknown)[] = [];

/**
 * After each test of all files: in a bundle they share their helper modules, whose hooks would count for one file only.
 */
export function afterEach(cleanup: () => unknown): void {
  cleanups.push(cleanup);
}

/** @param load  imports a test file, which registers its tests */
export async function run(files: Readonly<Record<string, () => Promise<unknown>>>): Promise<void> {
  const runner: VitestRunner = {
    config: {
      root: process.cwd(),
      setupFiles: [],
      passWithNoTests: false,
      testNamePattern: undefined,
      allowOnly: false,
      sequence: { seed: 0, hooks: 'stack', setupFiles: 'list' },
      maxConcurrency: 1,
      testTimeout: SLOW_MS,
      hookTimeout: SLOW_MS,
      retry: 0,
      includeTaskLocation: false,
      tags: [],
      tagsFilter: undefined,
      strictTags: false,
      chaiConfig: undefined,
      diffOptions: undefined,
    } as unknown as VitestRunner['config'],
    importFile: async (path) => files[path]?.(),
    onAfterRunTask: async () => {
      for (const cleanup of cleanups) await cleanup();
    },
  };
  const collected = await startTests(Object.keys(files), runner);
  let [passed, failed] = [0, 0];
  const walk = (suite: Suite | File): void => {
    for (const task of suite.tasks) {
      if (task.type === 'suite') walk(task);
      else if (task.result?.state === 'pass') passed += 1;
      else if (task.result?.state === 'fail') {
        failed += 1;
        process.stdout.write(`FAILED ${task.name}\n${task.result.errors?.[0]?.stack ?? task.result.errors?.[0]?.message ?? ''}\n`);
      }
    }
  };
  for (const file of collected) {
    walk(file);
    if (file.result?.state === 'fail' && file.result.errors?.length) {
      failed += 1;
      process.stdout.write(`FAILED ${file.filepath}: ${file.result.errors[0]?.message ?? ''}\n`);
    }
  }
  if (passed === 0) failed += 1; // nothing ran
  process.stdout.write(`${process.platform} ${process.arch} ${process.version}\n${String(passed)} passed, ${String(failed)} failed\n`);
  process.exitCode = failed === 0 ? 0 : 1;
}
