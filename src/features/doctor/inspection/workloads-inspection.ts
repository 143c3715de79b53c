import type { LoadedConfig } from '../../../config/config.js';
import type { WorkloadFacts } from '../machine-facts.js';
import type { MachineFacts } from '../../../config/lint/machine.js';
import type { SourceProblem } from '../../../monitor/ports/ports.js';
import { selectsUnits } from '../../../workloads/kinds/source-spec.js';
import { lintConfig } from '../../../config/lint-notices.js';

/** The number of files on cgroup v2, which needs most (workloads/cgroup-files). */
const FILES_EACH = 6;

/**
 * @param machine  undefined: the node does not exist, or the addon does not load
 * @param unreachable  why systemd does not answer about units
 */
export function workloadFacts(loaded: LoadedConfig, machine: MachineFacts | undefined, unreachable?: SourceProblem): WorkloadFacts {
  const { workloads } = loaded.config;
  const { present = [], sources = [] } = machine?.workloads ?? {};
  const asked = sources.map((source, index) => {
    const asksSystemd = selectsUnits(workloads.slice(index, index + 1));
    return unreachable && asksSystemd ? { ...source, problems: [...source.problems, unreachable] } : source;
  });
  return {
    sources: asked,
    filesEach: FILES_EACH,
    listed: present.map(({ name, path, unevictable }) => ({ name, path, unevictable: unevictable?.text })),
    notices: [...loaded.notices, ...lintConfig(loaded, machine && { ...machine, workloads: { present, sources: asked } })],
  };
}
