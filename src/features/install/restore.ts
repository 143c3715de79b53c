import { requireRoot, type EvictdDirectories, type Machine } from './install-machine.js';
import type { InstallStep } from './install-step.js';

/** Restores what ended evictd processes have throttled or frozen: an evictd that is started again needs the rest. */
export function restraintSteps(directories: EvictdDirectories, machine: Machine): AsyncIterable<InstallStep> {
  requireRoot(machine, 'restore what evictd has changed', 'sudo evictd restore');
  return restored(directories, machine, new Set(), 'restraints');
}

/**
 * Restores what ended evictd processes have changed, and lists what could not be restored.
 *
 * @param forget  units that evictd keeps stopped and that stay stopped
 * @throws EvictdError  not root
 */
export function restoreSteps(
  directories: EvictdDirectories,
  runtimeDirectories: ReadonlySet<string>,
  forget: ReadonlySet<string>,
  machine: Machine,
): AsyncIterable<InstallStep> {
  requireRoot(machine, 'restore what evictd has changed', 'sudo evictd restore');
  return (async function* () {
    for (const path of runtimeDirectories) {
      yield* restored({ ...directories, runtimeDirectory: path }, machine, forget);
      const running = machine.running(path);
      const why = `${usedBy(running)}: it restores what it has changed when it stops`;
      if (running.length > 0) yield { action: 'keep', path, why, unrestored: true };
    }
  })();
}

/** The restored items, then those that could not be restored. */
export async function* restored(
  directories: EvictdDirectories,
  { restore }: Machine,
  forget: ReadonlySet<string> = new Set(),
  only?: 'restraints',
): AsyncGenerator<InstallStep> {
  const path = directories.runtimeDirectory;
  const { restored: given, unrestored } = await restore(directories, forget, only);
  for (const what of given) yield { action: 'restore', path, what };
  for (const why of unrestored) yield { action: 'keep', path, why, unrestored: true };
}

export function usedBy(processes: readonly number[]): string {
  return `used by another evictd (process ${processes.join(', ')})`;
}
