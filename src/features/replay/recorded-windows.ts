import type { Config } from '../../config/config.js';
import { allProtections } from '../../core/workload/shutdown-exempt.js';
import { compileWindowsGlob } from '../../core/windows/windows-path.js';
import { targetOf } from '../../core/windows/windows-target.js';
import type { Protection, Workload, WorkloadUsage } from '../../core/workload/workload.js';
import type { RecordedConfig } from '../../recording/recording-format.js';
import { namedOf, patternsOf } from '../../core/workload/rule.js';
import { compileRules, tolerationsPart, type RuleEffect } from '../../workloads/workload-rules.js';
import type { WindowsSelection } from '../../workloads/kinds/source-kind.js';
import { windowsSelection } from '../../workloads/kinds/source-spec.js';
import { NANO } from '../../core/quantity/integer.js';

/**
 * Recorded jobs, services and trees under this configuration. Protections that do not depend on rules stay, and so does
 * which workload contains which.
 */
export function windowsWorkloadsUnder(config: Config, recorded: RecordedConfig, usages: readonly WorkloadUsage[]): WorkloadUsage[] {
  const matches = config.workloads.flatMap((source) => matchersOf(windowsSelection(source) ?? {}));
  const effectOf = compileRules(config.rules, patternsOf('windows'));
  const recordedEffectOf = compileRules(recorded.rules, patternsOf('windows'));
  return usages
    .filter(({ workload }) => matches.some((isMember) => isMember(workload)))
    .map(({ workload, stats }) => {
      const [effect, before] = [effectOf(namedOf(workload)), recordedEffectOf(namedOf(workload))];
      const guaranteed = before.requestsMemory === undefined ? workload.requests.memory : 0n;
      const memory = effect.requestsMemory === undefined ? guaranteed : effect.requestsMemory * NANO;
      const { protection: _, tolerations: __, ...rest } = workload;
      return {
        stats,
        workload: {
          ...rest,
          priority: effect.priority ?? 0,
          requests: { ...workload.requests, memory },
          // Only a service has a grace period, unless it accepts no stop request.
          terminationGracePeriodNs: workload.terminationGracePeriodNs === 0n ? 0n : effect.terminationGracePeriodNs,
          protection: protectionUnder(effect, workload.protection),
          ...tolerationsPart(effect),
        },
      };
    });
}

function protectionUnder({ critical }: RuleEffect, recorded: Protection | undefined): Protection | undefined {
  const other = allProtections(recorded).find(({ kind }) => kind !== 'critical');
  return critical ? { kind: 'critical', ...(other && { also: other }) } : other;
}

/** One test for each source: whether a workload belongs to it. */
function matchersOf({ jobs = [], services = [], programs = [] }: WindowsSelection): ((workload: Workload) => boolean)[] {
  const kindOf = ({ id }: Workload): string | undefined => targetOf(id)?.kind;
  return [
    ...jobs.map((job) => (workload: Workload) => kindOf(workload) === 'job' && workload.name === job),
    ...services
      .map(compileWindowsGlob)
      .map((pattern) => (workload: Workload) => kindOf(workload) === 'service' && pattern.test(workload.name)),
    ...programs
      .map(compileWindowsGlob)
      .map((pattern) => (workload: Workload) => kindOf(workload) === 'tree' && pattern.test(workload.program ?? workload.path)),
  ];
}
