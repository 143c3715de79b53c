import { hierarchiesBeside, type CgroupHierarchy } from '../core/workload/cgroup.js';
import { patternsOf, type Rule, type Named } from '../core/workload/rule.js';
import { CgroupStandingOrder } from '../evict/cgroup/cgroup-standing-order.js';
import { openCgroupEvictor, type VictimHierarchies } from '../evict/cgroup/cgroup-evictor.js';
import { openProcessEvictor } from '../evict/cgroup/single-process-evictor.js';
import type { Removals } from '../evict/cri/container-removals.js';
import { openPodEvictor } from '../evict/cri/pod-evictor.js';
import * as deferred from '../evict/kubernetes/api-pod-evictor.js';
import { openUnitEvictor } from '../evict/systemd/unit-evictor.js';
import * as windows from '../evict/windows/windows-evictor.js';
import { selectHost } from '../host/select.js';
import type { ContainerRuntime, Evictor, UnitManager } from '../monitor/ports/ports.js';
import type { PodEvictions } from '../monitor/ports/node-pods.js';
import type { StandingOrder } from '../monitor/ports/standing-order.js';
import type { Releases } from '../monitor/unit-releases.js';
import type { Reporter } from '../monitor/reporter.js';
import { native } from '../native/index.js';
import { asWindows } from '../native/windows-addon.js';
import type { FinalUnitStop } from '../workloads/systemd/unit-stops.js';
import { workingSetOf } from '../workloads/cgroup/cgroup-files.js';
import { PREFERENCE_ATTRIBUTES } from '../workloads/cgroup/oom-preference.js';
import { compileRules } from '../workloads/workload-rules.js';

export interface EvictorParts {
  readonly hierarchies: VictimHierarchies & { readonly systemd: CgroupHierarchy | undefined };
  readonly units: UnitManager;
  readonly sureStop: FinalUnitStop;
  readonly runtimeOf: (endpoint: string) => ContainerRuntime | undefined;
  readonly removals: Removals;
  readonly podEvictions: PodEvictions | undefined;
  readonly reporter: Pick<Reporter, 'notStopped'>;
  readonly releases: Pick<Releases, 'notStopped'>;
  readonly rules: () => readonly Rule[];
  /** Active page cache is usage. */
  readonly countsCache: boolean;
}

/** Ends workloads. `atShutdown`: does not remove containers, because they may be started after the shutdown. */
export function openEvictors(parts: EvictorParts): {
  readonly evictor: Evictor;
  readonly atShutdown: Evictor;
  /** undefined: nothing can carry out a standing order here. Throws Node's errors. */
  readonly openOrder: ((file: string) => StandingOrder) | undefined;
} {
  const { hierarchies, units, sureStop, runtimeOf, removals, podEvictions, reporter, releases, rules, countsCache } = parts;
  if (selectHost().os === 'windows') {
    const evictor = windows.openWindowsEvictor(asWindows(native), criticalPrograms(rules));
    return { evictor, atShutdown: evictor, openOrder: undefined };
  }
  const reaper = new native.MemoryReaper();
  const cgroups = openCgroupEvictor(native, hierarchies, reaper);
  const { memory } = hierarchies;
  const ofUnits = openUnitEvictor(cgroups, units, sureStop, (hold, errors) => {
    reporter.notStopped(hold, errors);
    releases.notStopped(hold);
  });
  const ofPods = openPodEvictor(ofUnits, runtimeOf, removals);
  return {
    evictor: openProcessEvictor(native, memory, {
      cgroups,
      others: podEvictions ? deferred.openApiPodEvictor(ofPods, podEvictions) : ofPods,
    }),
    atShutdown: openPodEvictor(ofUnits, runtimeOf, undefined),
    openOrder:
      memory &&
      ((file) =>
        new CgroupStandingOrder(native, {
          hierarchy: memory,
          beside: hierarchiesBeside(memory, hierarchies),
          attributes: PREFERENCE_ATTRIBUTES,
          reaper,
          file,
          workingSetOf: (cgroup) => workingSetOf(cgroup, memory.version, countsCache),
        })),
  };
}

/** Whether the rules in force make a Windows program critical. Compiles them again after a reload. */
export function criticalPrograms(rules: () => readonly Rule[]): (program: Named) => boolean {
  let compiled: { readonly from: readonly Rule[]; readonly effectOf: ReturnType<typeof compileRules> } | undefined;
  return (program) => {
    const from = rules();
    if (compiled?.from !== from) compiled = { from, effectOf: compileRules(from, patternsOf('windows')) };
    return compiled.effectOf(program).critical;
  };
}
