import { isBelow } from './cgroup.js';
import { compileGlob } from './glob.js';
import { slicePath, unitPlace } from '../systemd/unit.js';

/** What a workload source selects among cgroups. Left out: nothing of the kind. */
export interface CgroupSelection {
  /** Cgroups whose children are workloads: '/workload.slice'. */
  readonly parents?: readonly string[];
  /** 'batch.slice': every service and scope anywhere below is a workload. */
  readonly slices?: readonly string[];
  /** 'web.service', wherever it is, or a pattern: 'web@*.service'. */
  readonly units?: readonly string[];
  /** Container runtimes whose pods are workloads: 'unix:///run/containerd/containerd.sock'. */
  readonly endpoints?: readonly string[];
  /** Pods of this node that the API server of a cluster has reported. */
  readonly apiServer?: true;
  /** What units with ManagedOOM settings contain, for nothing but these settings. */
  readonly managedOom?: true;
}

/** Tells workloads from other cgroups by path. Workloads of container runtimes are not recognised. */
export class WorkloadSources {
  /** Cgroups whose children are workloads, without duplicates. */
  readonly parents: readonly string[];
  /** Cgroups of slices, without duplicates and nesting. */
  readonly slices: readonly string[];
  /** Container runtimes, without duplicates. */
  readonly endpoints: readonly string[];
  /** Pods of an API server. */
  readonly apiServer: boolean;
  readonly #names: readonly RegExp[];

  constructor(selections: readonly CgroupSelection[]) {
    this.parents = [...new Set(selections.flatMap(({ parents = [] }) => parents))];
    const slices = [...new Set(selections.flatMap(({ slices: names = [] }) => names.map(slicePath)))];
    this.slices = slices.filter((path) => !slices.some((other) => isBelow(path, other)));
    this.endpoints = [...new Set(selections.flatMap(({ endpoints = [] }) => endpoints))];
    this.apiServer = selections.some(({ apiServer }) => apiServer);
    this.#names = selections.flatMap(({ units = [] }) => units.map(compileGlob));
  }

  /** The cgroups above all workloads of the sources. */
  get roots(): readonly string[] {
    const isAnywhere = this.endpoints.length > 0 || this.apiServer || this.namesUnits;
    return [...new Set([...this.parents, ...this.slices, ...(isAnywhere ? ['/'] : [])])];
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

/** The innermost of cgroups that all contain the same one; of equal ones the first. */
export function innermost<T extends { readonly path: string }>(holding: readonly T[]): T | undefined {
  return holding.reduce<T | undefined>((a, b) => (a === undefined || b.path.length > a.path.length ? b : a), undefined);
}

function childHolding(cgroup: string, parent: string): { readonly name: string; readonly path: string } {
  const prefix = parent === '/' ? '/' : `${parent}/`;
  const name = cgroup.slice(prefix.length).split('/')[0] ?? '';
  return { name, path: prefix + name };
}
