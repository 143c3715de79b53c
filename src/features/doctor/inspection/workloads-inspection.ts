import type { LoadedConfig } from '../../../config/config.js';
import type { LintFacts, SourceFacts, WorkloadFacts } from '../machine-facts.js';
import type { MachineFacts } from '../../../config/lint/machine.js';
import type { SourceProblem, WorkloadSource } from '../../../monitor/ports/ports.js';
import { selectsUnits, sourceText } from '../../../workloads/kinds/source-spec.js';
import { lintConfig } from '../../../config/lint-notices.js';

/** On cgroup v2, which needs most (workloads/cgroup-files). */
const FILES_EACH = 6;

/**
 * @param machine  undefined: the node does not exist, or the addon does not load
 * @param unreachable  why systemd does not answer about units
 */
export function workloadFacts(
  loaded: LoadedConfig,
  sources: readonly SourceFacts[],
  machine: MachineFacts | undefined,
  unreachable: SourceProblem | undefined,
): WorkloadFacts {
  const { workloads } = loaded.config;
  return {
    sources: sources.map((source, index) => {
      const asksSystemd = selectsUnits(workloads.slice(index, index + 1));
      return unreachable && asksSystemd ? { ...source, problems: [...source.problems, unreachable] } : source;
    }),
    filesEach: FILES_EACH,
    listed: (machine?.workloads?.present ?? []).map(({ name, path, hindrance }) => ({ name, path, hindrance: hindrance?.text })),
    notices: [...loaded.notices, ...lintConfig(loaded, machine)].map(({ level, code, message, hint }): LintFacts => {
      return { level, code, message, ...(hint !== undefined && { hint }) };
    }),
  };
}

/**
 * The workloads of each entry alone.
 *
 * @param open  as `run` opens them
 */
export function readSources(loaded: LoadedConfig, open: (loaded: LoadedConfig) => WorkloadSource): SourceFacts[] {
  const { config } = loaded;
  return config.workloads.map((entry, index) => {
    const source = open({ ...loaded, config: { ...config, workloads: [entry] } });
    try {
      const { usages, unreadable, managed } = source.candidates();
      const ids = new Set([...usages, ...(managed?.() ?? [])].map(({ workload }) => workload.id));
      const key = `workloads[${String(index)}]`;
      return { key, text: sourceText(entry), workloads: ids.size, unreadable: unreadable.length, problems: source.problems() };
    } finally {
      source.close();
    }
  });
}
