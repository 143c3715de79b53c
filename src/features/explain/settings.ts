import type { LoadedConfig } from '../../config/config.js';
import { namedOf, patternsOf, type Rule } from '../../core/workload/rule.js';
import { formatPosition } from '../../cli/output/error-text.js';
import { selectHost } from '../../host/select.js';
import { compileRules } from '../../workloads/workload-rules.js';
import type { SettingsOf } from './explain-workload.js';

/** A class sets the priority, and makes what the system needs critical. */
function keysThatSet(key: string, rule: Rule | undefined): readonly string[] {
  const byClass = key === 'priority' || (key === 'critical' && rule?.critical === true);
  return byClass ? [key, 'priorityClass'] : [key];
}

/** Finds the rules that set something of a workload, and where they are written. */
export function settingsIn({ config, origins }: LoadedConfig): SettingsOf {
  const effectOf = compileRules(config.rules, patternsOf(selectHost().os));
  return (workload, key) =>
    effectOf(namedOf(workload)).matched.flatMap((index) => {
      return keysThatSet(key, config.rules[index]).flatMap((each) => {
        const name = `rules[${String(index)}].${each}`;
        const origin = origins.get(name)?.origin;
        return origin?.kind === 'set' ? [`${name} (${formatPosition(origin.position)})`] : [];
      });
    });
}
