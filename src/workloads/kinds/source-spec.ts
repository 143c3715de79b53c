import { WorkloadSources, type CgroupSelection } from '../../core/workload/workload-source.js';
import type { WorkloadSource } from '../../monitor/ports/ports.js';
import type { SourceKind, WindowsSelection } from './source-kind.js';
import { SOURCES } from './sources.js';

type SpecOf<Kind> = Kind extends SourceKind<infer Key, infer Spec> ? Readonly<Record<Key, Spec>> : never;

/**
 * An entry of `workloads`: one key, the kind, with its specification. The configuration ensures that the operating
 * system fits.
 */
export type WorkloadSourceSpec = SpecOf<(typeof SOURCES)[number]>;

/** Whether this evictd knows the kind of a source. */
export function isWorkloadSource(source: object): source is WorkloadSourceSpec {
  return SOURCES.some(({ kind }) => kind in source);
}

export function kindOf(source: WorkloadSourceSpec): { readonly kind: SourceKind; readonly value: unknown } {
  const kind: SourceKind | undefined = SOURCES.find((each) => each.kind in source);
  if (kind === undefined) throw new Error(`no kind of workload source: ${Object.keys(source).join(', ')}`);
  return { kind, value: (source as Readonly<Record<string, unknown>>)[kind.kind] };
}

/**
 * As in messages: '/workload.slice', 'systemd batch.slice, web.service', 'cri unix:///run/containerd/containerd.sock'.
 */
export function sourceText(source: WorkloadSourceSpec): string {
  const { kind, value } = kindOf(source);
  return kind.text(value);
}

/** undefined: the source does not select cgroups. */
export function cgroupSelection(source: WorkloadSourceSpec): CgroupSelection | undefined {
  const { kind, value } = kindOf(source);
  return kind.found.in === 'cgroups' ? kind.found.select(value) : undefined;
}

/** undefined: the source selects nothing on Windows. */
export function windowsSelection(source: WorkloadSourceSpec): WindowsSelection | undefined {
  const { kind, value } = kindOf(source);
  return kind.found.in === 'windows' ? kind.found.select(value) : undefined;
}

export function cgroupsOf(sources: readonly WorkloadSourceSpec[]): WorkloadSources {
  return new WorkloadSources(sources.flatMap((source) => cgroupSelection(source) ?? []));
}

/** Whether a source needs systemd to answer about units. */
export function selectsUnits(sources: readonly WorkloadSourceSpec[]): boolean {
  return sources.some((source) => {
    const { slices = [], units = [] } = cgroupSelection(source) ?? {};
    return slices.length + units.length > 0;
  });
}

/** Whether a source selects what is in units with ManagedOOM settings. */
export function selectsManaged(sources: readonly WorkloadSourceSpec[]): boolean {
  return sources.some((source) => cgroupSelection(source)?.managedOom === true);
}

/** Whether a source needs a container runtime. */
export function selectsPods(sources: readonly WorkloadSourceSpec[]): boolean {
  return cgroupsOf(sources).endpoints.length > 0;
}

/** `main` with the workloads of the sources that are neither cgroups nor of Windows. */
export function withOtherSources(main: WorkloadSource, sources: readonly WorkloadSourceSpec[]): WorkloadSource {
  const others = sources.flatMap((source) => {
    const { kind, value } = kindOf(source);
    return kind.found.in === 'elsewhere' ? kind.found.open(value) : [];
  });
  return others.reduce(joined, main);
}

function joined(first: WorkloadSource, second: WorkloadSource): WorkloadSource {
  return {
    candidates: () => {
      const [a, b] = [first.candidates(), second.candidates()];
      const isSecond = new Set([...b.usages, ...(b.vacant?.() ?? [])].map(({ workload }) => workload.id));
      return {
        ...a,
        usages: [...a.usages, ...b.usages],
        unreadable: [...a.unreadable, ...b.unreadable],
        veto: (workload) => (isSecond.has(workload.id) ? b : a).veto?.(workload),
        processes: () => new Map([...(a.processes?.() ?? []), ...(b.processes?.() ?? [])]),
        vacant: () => [...(a.vacant?.() ?? []), ...(b.vacant?.() ?? [])],
      };
    },
    refresh: () => {
      first.refresh();
      second.refresh();
    },
    holding: (cgroup) => first.holding(cgroup) ?? second.holding(cgroup),
    problems: () => [...first.problems(), ...second.problems()],
    close: () => {
      first.close();
      second.close();
    },
  };
}
