import { renameSync, writeFileSync } from 'node:fs';
import type { Reporter, SerializedError, TestModule } from 'vitest/node';

/** What came of a run: names of tests, "FILE > SUITE > TEST". */
export interface Results {
  readonly passed: readonly string[];
  /**
   * Also a file that could not be loaded, a failing hook outside any test and an error that no test caught, one each.
   */
  readonly failed: readonly string[];
  readonly skipped: readonly string[];
}

/**
 * The last line of `make test`: "N passed, N failed", from vitest's own results. It never says "0 failed" in a run that
 * exits 1.
 *
 * @param file  where the Results go as JSON, if anywhere: after each file of tests, so that what a machine had done
 *   when it went down is known
 */
export class Tally implements Reporter {
  readonly #file: string | undefined;
  readonly #ended: TestModule[] = [];

  constructor(file?: string) {
    this.#file = file;
  }

  onTestModuleEnd(module: TestModule): void {
    this.#ended.push(module);
    this.#write(resultsOf(this.#ended, []));
  }

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const results = resultsOf(modules, unhandled);
    this.#write(results);
    process.stdout.write(`\n${String(results.passed.length)} passed, ${String(results.failed.length)} failed\n`);
  }

  #write(results: Results): void {
    if (this.#file === undefined) return;
    // The machine may go down in the middle: what was there before stays readable.
    writeFileSync(`${this.#file}.new`, JSON.stringify(results));
    renameSync(`${this.#file}.new`, this.#file);
  }
}

function resultsOf(modules: readonly TestModule[], unhandled: readonly SerializedError[]): Results {
  const results = {
    passed: [] as string[],
    failed: unhandled.map(({ message }) => `outside any test: ${message}`),
    skipped: [] as string[],
  };
  for (const module of modules) {
    const before = results.failed.length;
    const file = module.relativeModuleId.replace(/\.js$/, '.ts'); // test/vm/bundles.ts
    for (const test of module.children.allTests()) {
      const { state } = test.result();
      if (state !== 'pending') results[state].push(`${file} > ${test.fullName}`);
    }
    if (results.failed.length === before && !module.ok()) results.failed.push(file);
  }
  return results;
}
