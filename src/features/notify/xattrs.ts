import { readFileSync } from 'node:fs';
import { fsPath, subdirectoriesIn } from '../../byte-paths.js';
import { cgroupDirectory } from '../../core/workload/cgroup.js';
import type { Binding } from '../../native/binding.js';
import type { OpenNotifier } from './notifier.js';
import { messageOf } from '../../errors.js';

/** systemd reads both when the cgroup is empty, and gives the unit the result oom-kill (src/core/unit.c, v252). */
const EVICTIONS = 'user.oomd_ooms';
const PROCESSES = 'user.oomd_kill';
/** Counting stops there: the victim waits for its signal. */
const MAX_DIRECTORIES = 64;

/**
 * Counts evictions and processes on the victim's cgroup as systemd-oomd does (src/oom/oomd-util.c, v260). Before the
 * signal: afterwards systemd may have read them, and removed the cgroup. Only cgroup2 has attributes of this kind.
 */
export const openXattrs: OpenNotifier = ({ xattrs }, { hierarchies: { unified }, native, report }) => {
  if (!xattrs) return undefined;
  return {
    before: ({ victim: { workload, process } }) => {
      if (process !== undefined) return; // the unit goes on
      if (unified === undefined) {
        report('failed', 'cgroup2 is not mounted, and only its cgroups have such attributes');
        return;
      }
      const directory = cgroupDirectory(unified, workload.path);
      try {
        increase(native, directory, EVICTIONS, 1);
        increase(native, directory, PROCESSES, processesBelow(directory));
        report('sent');
      } catch (error) {
        report('failed', messageOf(error));
      }
    },
    close: () => undefined,
  };
};

function increase(native: Pick<Binding, 'getxattr' | 'setxattr'>, directory: string, name: string, by: number): void {
  const before = Number(native.getxattr(directory, name)?.toString('latin1') ?? 0);
  native.setxattr(directory, name, String((Number.isSafeInteger(before) ? before : 0) + by));
}

function processesBelow(directory: string): number {
  const directories = [directory];
  let processes = 0;
  for (let next = 0; next < Math.min(directories.length, MAX_DIRECTORIES); next++) {
    const at = directories[next] ?? '';
    processes += readFileSync(fsPath(`${at}/cgroup.procs`), 'latin1').split('\n').length - 1;
    directories.push(...subdirectoriesIn(at).map((name) => `${at}/${name}`));
  }
  return processes;
}
