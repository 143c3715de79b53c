import type { LoadedConfig } from '../../config/config.js';
import { sourceText } from '../../core/workload-source.js';
import type { LintFacts, SourceFacts, WorkloadFacts } from '../../doctor/facts/workloads.js';
import type { MachineFacts } from '../../lint/machine.js';
import type { SourceProblem, WorkloadSource } from '../../monitor/ports.js';
import { lintConfig } from '../lint.js';

/** On cgroup v2, where it is most (workloads/cgroup-files). */
const FILES_EACH = 5;

/**
 * @param machine  undefined: the node is not there, or nothing can be read without the addon
 * @param unreachable  why systemd cannot be asked about units
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
      const asksSystemd = 'systemd' in (workloads[index] ?? {});
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
 * Each entry opened alone: what it yields, whatever kind of source it is.
 *
 * @param open  as `run` opens them
 */
export function readSources(loaded: LoadedConfig, open: (loaded: LoadedConfig) => WorkloadSource): SourceFacts[] {
  const { config } = loaded;
  return config.workloads.map((entry, index) => {
    const source = open({ ...loaded, config: { ...config, workloads: [entry] } });
    try {
      const { usages, unreadable } = source.candidates();
      const key = `workloads[${String(index)}]`;
      return { key, text: sourceText(entry), workloads: usages.length, unreadable: unreadable.length, problems: source.problems() };
    } finally {
      source.close();
    }
  });
}
