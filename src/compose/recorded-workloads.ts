import { posix } from 'node:path';
import type { Config } from '../config/config.js';
import { normalCgroupPath, withAncestors } from '../core/cgroup.js';
import type { WorkloadUsage } from '../core/workload.js';
import type { NodeIdentity } from '../monitor/ports.js';
import type { RecordedConfig } from '../monitor/recording/format.js';
import { protectionsOf } from '../workloads/protection.js';
import { compileRules } from '../workloads/rules.js';

const NANO = 1_000_000_000n;

/** Sources of `config` that were none when it was recorded: nothing is known about their workloads. */
export function unrecordedSources(config: Config, recorded: RecordedConfig): string[] {
  const known = new Set(recorded.sources.map(normalCgroupPath));
  return config.workloads.map(({ cgroup }) => normalCgroupPath(cgroup)).filter((root) => !known.has(root));
}

/**
 * Recorded workloads as this configuration sees them: those of its sources, with its rules' priority, requests, grace and protection. What protects
 * because of the machine (evictd lives in it, it is outside the node) stays, and so do pods, which rules do not match. Where a recorded rule gave a request, what the cgroup itself
 * guarantees is not known, and taken for none.
 */
export function workloadsUnder(
  config: Config,
  recorded: RecordedConfig,
  node: NodeIdentity,
): (usages: readonly WorkloadUsage[]) => WorkloadUsage[] {
  const roots = new Set(config.workloads.map(({ cgroup }) => normalCgroupPath(cgroup)));
  const effectOf = compileRules(config.rules);
  const recordedEffectOf = compileRules(recorded.rules);
  const criticalPaths = config.rules.flatMap(({ critical, match }) =>
    critical && match.path !== undefined && !/[*?]/.test(match.path) ? match.path : [],
  );
  return (usages) => {
    const pods = usages.filter(({ workload: { pod } }) => pod !== undefined);
    const members = usages.flatMap(({ workload, stats }) => {
      const root = posix.dirname(workload.path);
      const name = posix.basename(workload.path);
      return workload.pod === undefined && roots.has(root)
        ? [{ name, path: workload.path, effect: effectOf({ name, path: workload.path }), workload, stats }]
        : [];
    });
    const holdsEvictd = new Set(
      usages.flatMap(({ workload: { protection, path } }) => (protection?.kind === 'self' ? withAncestors(path) : [])),
    );
    const protections = protectionsOf(members, holdsEvictd, node.cgroup, criticalPaths);
    const cgroups = members.map(({ name, path, effect, workload, stats }) => {
      const guaranteed = recordedEffectOf(workload).requestsMemory === undefined ? workload.requests.memory : 0n;
      const memory = effect.requestsMemory === undefined ? guaranteed : effect.requestsMemory * NANO;
      return {
        stats,
        workload: {
          ...workload,
          name,
          priority: effect.priority,
          requests: { ...workload.requests, memory },
          terminationGracePeriodNs: effect.terminationGracePeriodNs,
          protection: protections.get(path),
        },
      };
    });
    return [...pods, ...cgroups];
  };
}
