import type { NameFacts } from '../../core/systemd/protected-units.js';
import { unitPlace } from '../../core/systemd/unit.js';
import type { Rule } from '../../core/workload/rule.js';
import type { Candidates, Protection, Workload } from '../../core/workload/workload.js';
import { isCarriedOut } from '../../core/policy/managed-policies.js';
import type { ManagedSettings } from '../../core/systemd/oomd-settings.js';
import type { ManagedOom } from '../../monitor/ports/managed-oom.js';
import type { SourceProblem, WorkloadSource } from '../../monitor/ports/ports.js';
import { listedProtection } from '../cgroup/protection.js';
import { compileRules } from '../workload-rules.js';

/**
 * Adds to a source what is in managed units.
 *
 * @param open  opens the leaves of these cgroups as a source of their own; they are open only while they are needed
 * @param protectionOf  of the unit that a cgroup is a part of
 */
export function withManaged(
  source: WorkloadSource,
  managedOom: ManagedOom,
  open: (paths: () => readonly string[]) => WorkloadSource,
  protectionOf: (path: string) => Protection | undefined,
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
        own ??= protectedAs(inner.candidates(), protectionOf);
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
    version: () => source.version?.(),
    holding: (cgroup) => source.holding(cgroup),
    problems: () => [...source.problems(), ...managedOom.problems(), ...managedProblems(managedOom.read())],
    close: () => {
      closeInner();
      source.close();
    },
  };
}

/** A part of a unit is protected as the unit is: what ends would be the unit's. */
export function unitProtectionOf(rules: readonly Rule[], names: NameFacts): (path: string) => Protection | undefined {
  const effectOf = compileRules(rules);
  return (path) => {
    const { kind, unit } = unitPlace(path);
    if (kind !== 'inside') return undefined;
    const effect = effectOf(unit);
    return effect.critical ? { kind: 'critical' } : listedProtection({ path: unit.path, effect }, names);
  };
}

function protectedAs(found: Candidates, protectionOf: (path: string) => Protection | undefined): Candidates {
  const usages = found.usages.map((usage) => {
    const protection = usage.workload.protection ?? protectionOf(usage.workload.path);
    return protection === undefined ? usage : { ...usage, workload: { ...usage.workload, protection } };
  });
  return { ...found, usages, veto: (workload) => protectionOf(workload.path) ?? found.veto?.(workload) };
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
        message: `systemd-oomd runs: evictd leaves units with ManagedOOM settings to it (${String(units.length)})`,
        hint: 'systemctl mask --now systemd-oomd.service systemd-oomd.socket, or remove managedOOM',
      },
    ];
  }
  const unknown = units.flatMap(({ name, rules: names }) =>
    names.flatMap((rule) => {
      const action = rules.find((known) => known.name === rule)?.action;
      if (action === undefined) return [`${rule} (of ${name}, no usable file)`];
      return isCarriedOut(action, name) ? [] : [`${rule} (of ${name}, Action=${action} of a slice)`];
    }),
  );
  if (unknown.length === 0) return [];
  return [
    {
      code: 'EVICTD_MANAGED_OOM_RULE',
      message: `OOMRules of units name rules that evictd does not carry out: ${unknown.join(', ')}`,
      hint: 'a NAME.oomrule in /etc/systemd/oomd/rules.d has MemoryPressureAbove= or SwapUsageMax=, and Action=; for a slice kill-by-pgscan or kill-by-swap',
    },
  ];
}
