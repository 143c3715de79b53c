import { realpathSync } from 'node:fs';
import { OwnDirectoryEmptier } from '../actions/directory-emptier.js';
import { cgroupDirectory, type CgroupHierarchy } from '../core/cgroup.js';
import type { Rule } from '../core/rule.js';
import type { Workload } from '../core/workload.js';
import { emptyingRecord } from '../monitor/emptying-record.js';
import type { Journal } from '../monitor/journal.js';
import type { Reporter } from '../monitor/reporter.js';
import type { ContainerRuntime, DirectoryEmptier, UnitManager } from '../monitor/ports.js';
import { addonPath, native } from '../native/index.js';
import type { DirectoryMeasurement } from '../workloads/directory-measurement.js';
import { objectionNow, type KeptDirectory } from '../workloads/emptying-objection.js';

/** What is never emptied on this machine: what evictd runs from, and where container runtimes keep what they have. */
export function keptDirectories(runtimes: readonly Pick<ContainerRuntime, 'endpoint' | 'filesystems'>[]): readonly KeptDirectory[] {
  const itself = [process.execPath, addonPath].map((path) => ({ path, why: `evictd runs from ${path}` }));
  const told = runtimes.flatMap((runtime) => {
    const { imagefs, containerfs } = runtime.filesystems() ?? {};
    // It may be anywhere.
    if (imagefs === undefined) return { path: '/', why: `${runtime.endpoint} has not told where it keeps its images` };
    return [imagefs, containerfs]
      .flatMap((path) => (path === undefined ? [] : [path, withoutLinks(path)]))
      .map((path) => ({ path, why: `${path} holds images or containers of ${runtime.endpoint}` }));
  });
  return [...itself, ...told];
}

const linksOf = new Map<string, string>();

/** Where a path that a runtime has told leads; looked at until it is there. */
function withoutLinks(path: string): string {
  const known = linksOf.get(path);
  if (known !== undefined) return known;
  try {
    const real = realpathSync(path);
    linksOf.set(path, real);
    return real;
  } catch {
    return path;
  }
}

export interface EmptyingScene {
  readonly units: UnitManager;
  /** In which processes of a workload may live. */
  readonly hierarchies: readonly (CgroupHierarchy | undefined)[];
  /** In force now. */
  readonly rules: () => readonly Rule[];
  /** Those that run now. */
  readonly workloads: () => readonly Workload[];
  /** Those of the configuration in force. */
  readonly runtimes: () => readonly ContainerRuntime[];
  readonly journal: Pick<Journal, 'record'>;
  readonly reporter: Pick<Reporter, 'emptying' | 'emptyingFailed'>;
  /** What was measured of directories is not so any more when one is being emptied, or was. */
  readonly measured: Pick<DirectoryMeasurement, 'forget'>;
}

export function openEmptier(scene: EmptyingScene): DirectoryEmptier {
  const { units, hierarchies, rules, workloads, runtimes, journal, reporter, measured } = scene;
  const distinct = hierarchies.flatMap((hierarchy) => hierarchy ?? []);
  return new OwnDirectoryEmptier({
    native,
    units,
    onEmptying: (decision, directory, emptied) => {
      journal.record(emptyingRecord(decision, directory, emptied));
      reporter.emptying(decision, directory, emptied);
      measured.forget();
    },
    onError: (decision, error) => {
      reporter.emptyingFailed(decision, error);
    },
    cgroupsOf: ({ path }) => [...new Set(distinct.map((hierarchy) => cgroupDirectory(hierarchy, path)))],
    objection: ({ path }, owner) =>
      objectionNow(path, owner, { rules: rules(), workloads: workloads(), kept: keptDirectories(runtimes()) }),
  });
}
