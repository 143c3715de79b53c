// What the test files get as 'vitest' where vitest cannot run, because its bundler is native code for another processor or system: vitest's own runner
// and matchers, which are plain JavaScript. Then the files that the bundle holds are run; the last line is "N passed, N failed".
import { ASYMMETRIC_MATCHERS_OBJECT, JestAsymmetricMatchers, JestChaiExpect, JestExtend } from '@vitest/expect';
import { getCurrentTest, startTests, type File, type Suite, type VitestRunner } from '@vitest/runner';
import * as chai from 'chai';

export { afterAll, beforeAll, beforeEach, describe, onTestFinished, test } from '@vitest/runner';

for (const plugin of [JestExtend, JestChaiExpect, JestAsymmetricMatchers]) chai.use(plugin);

/** vitest's `expect`, without polls and snapshots. */
export const expect = Object.assign(
  (value: unknown, message?: string): unknown => {
    const assertion = chai.expect(value, message) as { withTest?: (test: unknown) => unknown };
    return assertion.withTest?.(getCurrentTest()) ?? assertion;
  },
  chai.expect,
  (globalThis as unknown as Record<symbol, object>)[ASYMMETRIC_MATCHERS_OBJECT],
);

// Tests start further Nodes by this name: the host's kernel cannot run this one itself.
process.execPath = process.env.EVICTD_TEST_NODE ?? process.execPath;

const SLOW_MS = 120_000; // emulated

const cleanups: (() => unknown)[] = [];

/** After each test of all files: they share one module of helpers here, so that what it asks for at its import would be asked for by one file. */
export function afterEach(cleanup: () => unknown): void {
  cleanups.push(cleanup);
}

/** @param load  brings in a test file, so that it registers its tests */
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
