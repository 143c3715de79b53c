import type { Config } from '../config/config.js';
import { allProtections } from '../core/shutdown-exempt.js';
import { compileWindowsGlob } from '../core/windows-path.js';
import { targetOf } from '../core/windows-target.js';
import type { Protection, Workload, WorkloadUsage } from '../core/workload.js';
import { isWindowsSource, type WindowsSourceSpec } from '../core/workload-source.js';
import type { RecordedConfig } from '../monitor/recording/format.js';
import { compileRules, namedOf, patternsOf, type RuleEffect } from '../workloads/rules.js';

const NANO = 1_000_000_000n;

/**
 * Recorded jobs, services and trees under this configuration. Protections that do not depend on rules stay, and so does
 * which workload contains which.
 */
export function windowsWorkloadsUnder(config: Config, recorded: RecordedConfig, usages: readonly WorkloadUsage[]): WorkloadUsage[] {
  const matches = config.workloads.flatMap((source) => (isWindowsSource(source) ? matcherOf(source) : []));
  const effectOf = compileRules(config.rules, patternsOf('windows'));
  const recordedEffectOf = compileRules(recorded.rules, patternsOf('windows'));
  return usages
    .filter(({ workload }) => matches.some((isMember) => isMember(workload)))
    .map(({ workload, stats }) => {
      const [effect, before] = [effectOf(namedOf(workload)), recordedEffectOf(namedOf(workload))];
      const guaranteed = before.requestsMemory === undefined ? workload.requests.memory : 0n;
      const memory = effect.requestsMemory === undefined ? guaranteed : effect.requestsMemory * NANO;
      const { protection: _, ...rest } = workload;
      return {
        stats,
        workload: {
          ...rest,
          priority: effect.priority ?? 0,
          requests: { ...workload.requests, memory },
          // Only a service has a grace period, unless it accepts no stop request.
          terminationGracePeriodNs: workload.terminationGracePeriodNs === 0n ? 0n : effect.terminationGracePeriodNs,
          protection: protectionUnder(effect, workload.protection),
        },
      };
    });
}

function protectionUnder({ critical }: RuleEffect, recorded: Protection | undefined): Protection | undefined {
  const other = allProtections(recorded).find(({ kind }) => kind !== 'critical');
  return critical ? { kind: 'critical', ...(other && { also: other }) } : other;
}

/** Whether a workload belongs to this source. */
function matcherOf(source: WindowsSourceSpec): (workload: Workload) => boolean {
  const kindOf = ({ id }: Workload): string | undefined => targetOf(id)?.kind;
  if ('job' in source) return (workload) => kindOf(workload) === 'job' && workload.name === source.job;
  const pattern = compileWindowsGlob('service' in source ? source.service : source.process.path);
  if ('service' in source) return (workload) => kindOf(workload) === 'service' && pattern.test(workload.name);
  return (workload) => kindOf(workload) === 'tree' && pattern.test(workload.program ?? workload.path);
}
