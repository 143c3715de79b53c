import type { Config } from '../../config/config.js';
import { isBelow, withAncestors } from '../../core/workload/cgroup.js';
import { containerScope } from '../../core/workload/container-scope.js';
import { isLiteral } from '../../core/workload/glob.js';
import { isAvoidedSession, type NameFacts } from '../../core/systemd/protected-units.js';
import { slicePath } from '../../core/systemd/unit.js';
import { protectionByPriority } from '../../core/disruption/priority-class.js';
import { allProtections } from '../../core/workload/shutdown-exempt.js';
import type { Protection, Workload, WorkloadUsage } from '../../core/workload/workload.js';
import type { NodeIdentity } from '../../monitor/ports/ports.js';
import type { RecordedConfig } from '../../recording/recording-format.js';
import { windowsWorkloadsUnder } from './recorded-windows.js';
import { preferenceParts } from '../../workloads/cgroup/cgroup-workload.js';
import { listedProtection, protectionsOf, type Protectable } from '../../workloads/cgroup/protection.js';
import { compileRules, tolerationsPart } from '../../workloads/workload-rules.js';
import { cgroupSelection, cgroupsOf, isWorkloadSource, sourceText, windowsSelection } from '../../workloads/kinds/source-spec.js';
import { NANO } from '../../core/quantity/integer.js';

/** Sources of `config` that the recording does not have: nothing is known about their workloads. */
export function unrecordedSources(config: Config, recorded: RecordedConfig): string[] {
  const before = recorded.workloads.filter(isWorkloadSource);
  const known = cgroupsOf(before);
  const texts = new Set(before.map(sourceText));
  const knownUnits = new Set(before.flatMap((source) => cgroupSelection(source)?.units ?? []));
  const isKnown = (path: string): boolean => known.slices.some((slice) => path === slice || isBelow(path, slice));
  return config.workloads.flatMap((source): string[] => {
    const selection = cgroupSelection(source);
    if (selection === undefined) return texts.has(sourceText(source)) ? [] : [sourceText(source)];
    const { parents = [], slices = [], units = [], endpoints = [], apiServer } = selection;
    return [
      ...parents.filter((parent) => !known.parents.includes(parent)),
      ...slices.filter((slice) => !isKnown(slicePath(slice))),
      ...units.filter((unit) => !knownUnits.has(unit) && !known.slices.includes('/')),
      ...endpoints.filter((endpoint) => !known.endpoints.includes(endpoint)),
      ...(apiServer && !known.apiServer ? [sourceText(source)] : []),
    ];
  });
}

/**
 * Recorded workloads under this configuration: the members of its sources, with priority, requests, grace period and
 * protection by its rules. Protections by the machine (evictd runs in the workload, it is outside the node) stay, and
 * so do pods, which rules do not match. If a recorded rule set a request, the guarantee of the cgroup itself is
 * unknown, and counts as none.
 */
export function workloadsUnder(
  config: Config,
  recorded: RecordedConfig,
  node: NodeIdentity,
): (usages: readonly WorkloadUsage[]) => WorkloadUsage[] {
  const sources = cgroupsOf(config.workloads);
  const isOfWindows = recorded.workloads.some((source) => isWorkloadSource(source) && windowsSelection(source) !== undefined);
  const effectOf = compileRules(config.rules);
  const recordedEffectOf = compileRules(recorded.rules);
  const criticalPaths = config.rules.flatMap(({ critical, match }) =>
    critical && match.path !== undefined && isLiteral(match.path) ? match.path : [],
  );
  return (usages) => {
    if (isOfWindows) return windowsWorkloadsUnder(config, recorded, usages);
    const pods = usages.filter(({ workload: { pod } }) => pod !== undefined);
    const apiPods = !sources.apiServer ? [] : usages.flatMap(({ workload: { kubernetes, path } }) => (kubernetes ? [path] : []));
    const members = usages.flatMap(({ workload, stats }) => {
      const { path, oomPreference } = workload;
      const runtime = workload.runtime && sources.endpoints.includes(workload.runtime.endpoint) ? workload.runtime : undefined;
      const kubernetes = sources.apiServer ? workload.kubernetes : undefined;
      const source = workload.pod === undefined ? sources.nameOf(path) : undefined;
      const name = (kubernetes ?? runtime ?? (source !== undefined && containerScope(path))) ? workload.name : source;
      if (name === undefined) return [];
      const effect = effectOf({ name, path, labels: (kubernetes ?? runtime)?.labels });
      const listed = listedProtection({ path, effect }, namesOf(workload));
      const pod = podOf(workload, kubernetes, apiPods);
      const byKubelet = pod === undefined && (runtime?.byKubelet ?? protectedAs(workload, 'kubelet') !== undefined);
      const pending = protectedAs(workload, 'unreported');
      return [{ name, path, effect, listed, oomPreference, byKubelet, pod, pending, runtime, kubernetes, workload, stats }];
    });
    const holdsEvictd = new Set(usages.flatMap(({ workload }) => (protectedAs(workload, 'self') ? withAncestors(workload.path) : [])));
    const protections = protectionsOf(members, holdsEvictd, node.cgroup, criticalPaths);
    const cgroups = members.map(
      ({ name, path, effect, oomPreference, runtime, kubernetes, workload: { avoid: _, ...recordedAs }, stats }) => {
        const { runtime: __, kubernetes: ___, tolerations = [], ...workload } = recordedAs;
        const reported = kubernetes ?? runtime;
        const before = recordedEffectOf({ ...workload, labels: reported?.labels });
        const guaranteed = before.requestsMemory === undefined ? workload.requests.memory : 0n;
        const memory = effect.requestsMemory === undefined ? guaranteed : effect.requestsMemory * NANO;
        return {
          stats,
          workload: {
            ...workload,
            name,
            priority: effect.priority ?? reported?.priority ?? 0,
            ...preferenceParts(oomPreference, isAvoidedSession(path, namesOf(workload)), effect.priority),
            requests: { ...workload.requests, memory },
            terminationGracePeriodNs: effect.terminationGracePeriodNs ?? reported?.terminationGracePeriodNs,
            protection: protections.get(path),
            ...(runtime && { runtime }),
            ...(kubernetes && { kubernetes }),
            ...tolerationsPart(effect, kubernetes && tolerations.slice(before.tolerations.length)),
          },
        };
      },
    );
    return [...pods, ...cgroups];
  };
}

function podOf(workload: Workload, kubernetes: Workload['kubernetes'], pods: readonly string[]): Protectable['pod'] {
  if (!kubernetes) return pods.some((above) => isBelow(workload.path, above)) ? { is: 'part' } : undefined;
  return { is: 'pod', protection: protectedAs(workload, 'static') ?? protectionByPriority(kubernetes.priority) };
}

/** Owners are not recorded: the protection of a login session says that its user was an operator. */
function namesOf(workload: Pick<Workload, 'protection'>): NameFacts {
  return { isOperator: () => protectedAs(workload, 'unit') !== undefined, isNamedByRoot: () => true };
}

/** Whether the workload has this protection, also if another one comes first. */
function protectedAs({ protection }: Pick<Workload, 'protection'>, kind: Protection['kind']): Protection | undefined {
  return allProtections(protection).find((each) => each.kind === kind);
}
