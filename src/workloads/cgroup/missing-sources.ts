import { statSync } from 'node:fs';
import { unitNameOf } from '../../core/systemd/unit.js';
import { errnoName } from '../../errors.js';
import type { SourceProblem, WorkloadSource } from '../../monitor/ports/ports.js';
import type { SourceRoot } from './source-root.js';
import { sourceText, type WorkloadSourceSpec } from '../kinds/source-spec.js';
import { fsPath } from '../../byte-paths.js';

/** Roots that are not there (yet). */
export function missingSources(roots: readonly SourceRoot[]): readonly SourceProblem[] {
  return roots.flatMap(({ path, directory, shape }): SourceProblem[] => {
    const root = shape === undefined || path === '/' ? path : `${unitNameOf(path.slice(path.lastIndexOf('/') + 1))} (systemd)`;
    try {
      statSync(fsPath(directory));
      return [];
    } catch (error) {
      const missing = errnoName(error) === 'ENOENT';
      const message = missing
        ? `workload source ${root} does not exist (looked for ${directory})`
        : `workload source ${root}: ${String(error)}`;
      return [
        {
          root: path,
          code: 'EVICTD_SOURCE_MISSING',
          message,
          hint: 'create it, or correct its path: evictd guards its workloads as soon as it exists',
        },
      ];
    }
  });
}

/** The workloads of a machine without a memory controller. */
export function noWorkloads(sources: readonly WorkloadSourceSpec[]): WorkloadSource {
  return {
    candidates: () => ({ usages: [], unreadable: [], timeNs: process.hrtime.bigint() }),
    refresh: () => undefined,
    version: () => 0,
    holding: () => undefined,
    problems: () =>
      sources.map((source) => ({
        code: 'EVICTD_SOURCE_MISSING',
        message: `workload source ${sourceText(source)}: this machine has no cgroup memory controller`,
        hint: 'mount the cgroup filesystem, and boot without cgroup_disable=memory',
      })),
    close: () => undefined,
  };
}
