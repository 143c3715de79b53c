import type { Reporter, SerializedError, TestModule } from 'vitest/node';

/**
 * The last line of `make test`: "N passed, N failed", from vitest's own results.
 *
 * A file that could not be loaded, a failing hook outside any test and an error that no test caught count as one failure each: the line never
 * says "0 failed" in a run that exits 1.
 */
export class Tally implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    let passed = 0;
    let failed = unhandled.length;
    for (const module of modules) {
      const before = failed;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state === 'passed') passed++;
        if (state === 'failed') failed++;
      }
      if (failed === before && !module.ok()) failed++;
    }
    process.stdout.write(`\n${String(passed)} passed, ${String(failed)} failed\n`);
  }
}
