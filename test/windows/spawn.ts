import * as childProcess from 'node:child_process';

/** Under load Wine sometimes cannot start a program: that one has not run, and is started once more. */
const TIMES = 3;

function unlessUnknown<T>(file: unknown, attempt: () => T, errorOf: (result: T) => unknown): T {
  for (let time = 1; ; time++) {
    let error: unknown;
    try {
      const result = attempt();
      error = errorOf(result);
      if (!isUnknown(error) || time === TIMES) return result;
    } catch (thrown) {
      if (!isUnknown(thrown) || time === TIMES) throw thrown;
    }
    process.stderr.write(`Wine could not start ${String(file)}: once more\n`);
  }
}

const isUnknown = (error: unknown): boolean => (error as NodeJS.ErrnoException | undefined)?.code === 'UNKNOWN';

type Anything = readonly unknown[];
type Any = (...args: Anything) => unknown;

/** As those of node:child_process. */
export const spawn = ((...args: Anything) =>
  unlessUnknown(
    args[0],
    () => (childProcess.spawn as Any)(...args),
    () => undefined,
  )) as typeof childProcess.spawn;
export const spawnSync = ((...args: Anything) =>
  unlessUnknown(
    args[0],
    () => (childProcess.spawnSync as Any)(...args),
    (result) => (result as childProcess.SpawnSyncReturns<string>).error,
  )) as typeof childProcess.spawnSync;
