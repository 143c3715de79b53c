import { isBelow, normalCgroupPath } from './cgroup.js';
import { compileGlob } from './glob.js';
import { slicePath, unitPlace } from './unit.js';

export interface SystemdSource {
  /** 'batch.slice': every service and scope anywhere below is a workload. */
  readonly slices: readonly string[];
  /** 'web.service', wherever it is, or a pattern: 'web@*.service'. */
  readonly units: readonly string[];
}

export interface CriSource {
  /** 'unix:///run/containerd/containerd.sock'. */
  readonly endpoint: string;
}

/**
 * `cgroup`: a path below the mount of the memory controller ('/workload.slice'); every child is a workload. `cri`:
 * every pod with a cgroup of its own is a workload; of other pods every container.
 */
export type LinuxSourceSpec = { readonly cgroup: string } | { readonly systemd: SystemdSource } | { readonly cri: CriSource };

/**
 * `job`: a job object by name, one workload. `service`: a service or a pattern; each running one is a workload.
 * `process`: a pattern of program paths; each process of such a program is a workload with its descendants, unless it
 * is inside one already.
 */
export type WindowsSourceSpec = { readonly job: string } | { readonly service: string } | { readonly process: { readonly path: string } };

/** The configuration ensures that the operating system fits. */
export type WorkloadSourceSpec = LinuxSourceSpec | WindowsSourceSpec;

export function isWindowsSource(source: WorkloadSourceSpec): source is WindowsSourceSpec {
  return 'job' in source || 'service' in source || 'process' in source;
}

/**
 * As in messages: '/workload.slice', 'systemd batch.slice, web.service', 'cri unix:///run/containerd/containerd.sock'.
 */
export function sourceText(source: WorkloadSourceSpec): string {
  if ('job' in source) return `job ${source.job}`;
  if ('service' in source) return `service ${source.service}`;
  if ('process' in source) return `process ${source.process.path}`;
  if ('cri' in source) return `cri ${source.cri.endpoint}`;
  return 'cgroup' in source ? source.cgroup : `systemd ${[...source.systemd.slices, ...source.systemd.units].join(', ')}`;
}

/** The cgroups above all workloads of the sources. */
export function sourceRoots(sources: readonly WorkloadSourceSpec[]): string[] {
  const roots = sources.flatMap((source) =>
    isWindowsSource(source)
      ? []
      : 'cgroup' in source
        ? normalCgroupPath(source.cgroup)
        : 'cri' in source
          ? '/'
          : [...source.systemd.slices.map(slicePath), ...(source.systemd.units.length > 0 ? ['/'] : [])],
  );
  return [...new Set(roots)];
}

/** Tells workloads from other cgroups by path. Workloads of container runtimes are not recognised. */
export class WorkloadSources {
  /** Cgroups whose children are workloads, without duplicates. */
  readonly parents: readonly string[];
  /** Cgroups of slices, without duplicates and nesting. */
  readonly slices: readonly string[];
  /** Container runtimes, without duplicates. */
  readonly endpoints: readonly string[];
  readonly #names: readonly RegExp[];

  constructor(sources: readonly WorkloadSourceSpec[]) {
    this.parents = [...new Set(sources.flatMap((source) => ('cgroup' in source ? normalCgroupPath(source.cgroup) : [])))];
    const slices = [...new Set(sources.flatMap((source) => ('systemd' in source ? source.systemd.slices.map(slicePath) : [])))];
    this.slices = slices.filter((path) => !slices.some((other) => isBelow(path, other)));
    this.endpoints = [...new Set(sources.flatMap((source) => ('cri' in source ? source.cri.endpoint : [])))];
    this.#names = sources.flatMap((source) => ('systemd' in source ? source.systemd.units.map(compileGlob) : []));
  }

  /** Whether a source names units, which may be anywhere. */
  get namesUnits(): boolean {
    return this.#names.length > 0;
  }

  names(unit: string): boolean {
    return this.#names.some((pattern) => pattern.test(unit));
  }

  /** The innermost workload that the cgroup is, or is inside of. */
  holding(cgroup: string): { readonly name: string; readonly path: string } | undefined {
    const children = this.parents.filter((parent) => isBelow(cgroup, parent)).map((parent) => childHolding(cgroup, parent));
    const { unit } = unitPlace(cgroup);
    const isNamed = unit !== undefined && (this.names(unit.name) || this.slices.some((slice) => isBelow(unit.path, slice)));
    const found = innermost(isNamed ? [unit, ...children] : children);
    return found && { name: found.name, path: found.path };
  }

  /** undefined: not a workload. */
  nameOf(path: string): string | undefined {
    const held = this.holding(path);
    return held?.path === path ? held.name : undefined;
  }
}

/** Of cgroups that all contain the same one; of equals the first. */
export function innermost<T extends { readonly path: string }>(holding: readonly T[]): T | undefined {
  return holding.reduce<T | undefined>((a, b) => (a === undefined || b.path.length > a.path.length ? b : a), undefined);
}

function childHolding(cgroup: string, parent: string): { readonly name: string; readonly path: string } {
  const prefix = parent === '/' ? '/' : `${parent}/`;
  const name = cgroup.slice(prefix.length).split('/')[0] ?? '';
  return { name, path: prefix + name };
}
