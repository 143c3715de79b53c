import type { Candidates, Workload } from '../../core/workload/workload.js';
import type { ManagedSettings } from '../../core/systemd/oomd-settings.js';
import type { ManagedOom } from '../../monitor/ports/managed-oom.js';
import type { SourceProblem, WorkloadSource } from '../../monitor/ports/ports.js';

/**
 * Adds to a source what is in managed units.
 *
 * @param open  opens the leaves of these cgroups as a source of their own; they are open only while they are needed
 */
export function withManaged(
  source: WorkloadSource,
  managedOom: ManagedOom,
  open: (paths: () => readonly string[]) => WorkloadSource,
): WorkloadSource {
  const paths = (): readonly string[] => managedPaths(managedOom.read());
  let inner: WorkloadSource | undefined;
  let isUsed = false;
  const closeInner = (): void => {
    inner?.close();
    inner = undefined;
  };
  return {
    candidates: (reading) => {
      const found = source.candidates(reading);
      let own: Candidates | undefined;
      const managed = (): Candidates => {
        isUsed = true;
        inner ??= open(paths);
        own ??= inner.candidates();
        return own;
      };
      return {
        ...found,
        managed: () => managed().usages,
        veto: (workload) => (isIn(found, workload) ? found : managed()).veto?.(workload),
      };
    },
    refresh: () => {
      managedOom.look(process.hrtime.bigint());
      source.refresh();
      if (isUsed) inner?.refresh();
      else closeInner();
      isUsed = false;
    },
    holding: (cgroup) => source.holding(cgroup),
    problems: () => [...source.problems(), ...managedOom.problems(), ...managedProblems(managedOom.read())],
    close: () => {
      closeInner();
      source.close();
    },
  };
}

/** The cgroups of managed units. None while systemd-oomd acts on them. */
function managedPaths(settings: ManagedSettings | undefined): readonly string[] {
  return settings === undefined || settings.isLeftToOomd ? [] : settings.units.map(({ path }) => path);
}

function isIn({ usages, vacant }: Candidates, { id }: Workload): boolean {
  return [...usages, ...(vacant?.() ?? [])].some(({ workload }) => workload.id === id);
}

function managedProblems(settings: ManagedSettings | undefined): readonly SourceProblem[] {
  if (settings === undefined) return [];
  const { units, rules, isLeftToOomd } = settings;
  if (isLeftToOomd) {
    return [
      {
        code: 'EVICTD_MANAGED_OOM_TAKEN',
        message: `systemd-oomd runs: evictd leaves ${String(units.length)} units with ManagedOOM settings to it`,
        hint: 'systemctl mask --now systemd-oomd.service systemd-oomd.socket, or remove managedOOM',
      },
    ];
  }
  const unknown = units.flatMap(({ name, rules: names }) =>
    names
      .filter((rule) => !rules.some((known) => known.name === rule && known.action !== 'kill-all'))
      .map((rule) => `${rule} (of ${name})`),
  );
  if (unknown.length === 0) return [];
  return [
    {
      code: 'EVICTD_MANAGED_OOM_RULE',
      message: `OOMRules of units name rules that evictd does not carry out: ${unknown.join(', ')}`,
      hint: 'such a NAME.oomrule in /etc/systemd/oomd/rules.d has MemoryPressureAbove= or SwapUsageMax=, and Action=kill-by-pgscan or kill-by-swap',
    },
  ];
}
