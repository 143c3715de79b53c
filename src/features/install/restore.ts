import { requireRoot, type Machine } from './install-machine.js';
import type { InstallStep } from './install-step.js';

export interface EvictdDirectories {
  readonly stateDirectory: string;
  readonly runtimeDirectory: string;
  readonly journal: { readonly maxBytes: number; readonly maxFiles: number };
}

/** The result of restoring what ended evictd processes have changed, a phrase each. */
export interface Restoration {
  /** 'oom_score_adj of 3 processes' */
  readonly restored: readonly string[];
  /** What could not be restored, with the reason and what to do. */
  readonly owed: readonly string[];
  /** A directory does not answer and blocks a thread. */
  readonly hangs: boolean;
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
      if (running.length > 0) yield { action: 'keep', path, why, owed: true };
    }
  })();
}

/** The restored items, then those that could not be restored. */
export async function* restored(
  directories: EvictdDirectories,
  { restore }: Machine,
  forget: ReadonlySet<string> = new Set(),
): AsyncGenerator<InstallStep> {
  const path = directories.runtimeDirectory;
  const { restored: given, owed } = await restore(directories, forget);
  for (const what of given) yield { action: 'restore', path, what };
  for (const why of owed) yield { action: 'keep', path, why, owed: true };
}

export function usedBy(processes: readonly number[]): string {
  return `used by another evictd (process ${processes.join(', ')})`;
}
