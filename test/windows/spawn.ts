import * as childProcess from 'node:child_process';

/** Under load Wine sometimes cannot start a program: it is started again, at most twice. */
const TIMES = 3;

function started<T>(file: unknown, attempt: () => T): T {
  for (let time = 1; ; time++) {
    try {
      return attempt();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'UNKNOWN' || time === TIMES) throw error;
      process.stderr.write(`Wine could not start ${String(file)}: again\n`);
    }
  }
}

type Spawn = (...args: readonly unknown[]) => unknown;
type SpawnSync = (...args: readonly unknown[]) => childProcess.SpawnSyncReturns<string>;

/** Like those of node:child_process, but spawnSync throws, too, if the program could not be started. */
export const spawn = ((...args) => started(args[0], () => (childProcess.spawn as Spawn)(...args))) as typeof childProcess.spawn;
export const spawnSync = ((...args) =>
  started(args[0], () => {
    const result = (childProcess.spawnSync as SpawnSync)(...args);
    const error: NodeJS.ErrnoException | undefined = result.error;
    if (error?.code === 'UNKNOWN') throw error;
    return result;
  })) as typeof childProcess.spawnSync;
