import type { LoadedConfig } from '../../config/config.js';
import { formatPosition } from '../../cli/output/error-text.js';
import { selectHost } from '../../host/select.js';
import { compileRules, namedOf, patternsOf } from '../../workloads/workload-rules.js';
import type { SettingsOf } from './explain-workload.js';

/** Finds the rules that set something of a workload, and where they are written. */
export function settingsIn({ config, origins }: LoadedConfig): SettingsOf {
  const effectOf = compileRules(config.rules, patternsOf(selectHost().os));
  return (workload, key) =>
    effectOf(namedOf(workload)).matched.flatMap((index) => {
      const name = `rules[${String(index)}].${key}`;
      const origin = origins.get(name)?.origin;
      return origin?.kind === 'set' ? [`${name} (${formatPosition(origin.position)})`] : [];
    });
}
