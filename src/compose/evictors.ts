import { openCgroupEvictor, type VictimHierarchies } from '../actions/kill-cgroup.js';
import type { Removals } from '../actions/removals.js';
import { openPodEvictor } from '../actions/stop-pod.js';
import { openUnitEvictor } from '../actions/stop-unit.js';
import * as windows from '../actions/windows-evictor.js';
import type { Rule } from '../core/rule.js';
import { selectHost } from '../host/select.js';
import type { ContainerRuntime, Evictor, UnitManager } from '../monitor/ports.js';
import type { Releases } from '../monitor/releases.js';
import type { Reporter } from '../monitor/reporter.js';
import { native } from '../native/index.js';
import { asWindows } from '../native/of-windows.js';
import { compileRules, patternsOf, type Named } from '../workloads/rules.js';

export interface EvictorParts {
  readonly hierarchies: VictimHierarchies;
  readonly units: UnitManager;
  readonly runtimeOf: (endpoint: string) => ContainerRuntime | undefined;
  readonly removals: Removals;
  readonly reporter: Pick<Reporter, 'notStopped'>;
  readonly releases: Pick<Releases, 'notStopped'>;
  /** The rules in force. */
  readonly rules: () => readonly Rule[];
}

/** Ends workloads. `atShutdown`: does not remove containers, because they may be started after the shutdown. */
export function openEvictors({ hierarchies, units, runtimeOf, removals, reporter, releases, rules }: EvictorParts): {
  readonly evictor: Evictor;
  readonly atShutdown: Evictor;
} {
  if (selectHost().os === 'windows') {
    const evictor = windows.openWindowsEvictor(asWindows(native), criticalPrograms(rules));
    return { evictor, atShutdown: evictor };
  }
  const cgroups = openCgroupEvictor(native, hierarchies);
  const ofUnits = openUnitEvictor(cgroups, units, (hold, errors) => {
    reporter.notStopped(hold, errors);
    releases.notStopped(hold);
  });
  return {
    evictor: openPodEvictor(ofUnits, runtimeOf, removals),
    atShutdown: openPodEvictor(ofUnits, runtimeOf, undefined),
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
