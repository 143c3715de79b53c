import { slicePath } from '../../../core/systemd/unit.js';
import type { CgroupSelection } from '../../../core/workload/workload-source.js';
import { cgroupSelection, type WorkloadSourceSpec } from '../../../workloads/kinds/source-spec.js';
import { ANY_NAME, globOf, literal, overlap, type Glob } from './glob-overlap.js';

/** The possible names and paths of workloads of the sources, and the texts for a rule that matches none. */
export interface Reach {
  readonly hasLabels: boolean;
  readonly names: readonly Glob[];
  readonly paths: readonly Glob[];
  readonly nameText: string;
  readonly nameHint: (pattern: string) => string;
  readonly pathText: string;
  readonly pathHint: string;
}

const UNITS: readonly Glob[] = ['?*.service', '?*.scope'].map(globOf);
/** 'NAMESPACE/POD', 'NAMESPACE/POD/CONTAINER'. */
const POD_NAMES: readonly Glob[] = ['?*/?*', '?*/?*/?*'].map(globOf);
/** Scopes of Docker and Podman, whose containers also have names of their own (workloads/container-names). */
const HOLDS_CONTAINERS: readonly Glob[] = ['-.slice', 'system.slice', 'machine.slice', 'docker-*.scope', 'libpod-*.scope'].map(globOf);
const ANY_PATH = globOf('**');

export function reachOf(sources: readonly WorkloadSourceSpec[]): Reach {
  const selections = sources.map(cgroupSelection);
  const of = (kind: Exclude<keyof CgroupSelection, 'managedOom' | 'apiServer'>): readonly string[] =>
    selections.flatMap((selection) => selection?.[kind] ?? []);
  const [parents, slices, units] = [of('parents'), of('slices'), of('units')];
  const runtimes = [...of('endpoints'), ...(selections.some((selection) => selection?.apiServer) ? ['the API server'] : [])];
  const hasContainers = [...slices, ...units].some((name) => HOLDS_CONTAINERS.some((known) => overlap(globOf(name), known)));
  const hasUnits = slices.length + units.length > 0;
  const unitNames = [...(slices.length > 0 ? UNITS : []), ...units.map(globOf)];
  const below = (path: string, name: Glob, between: Glob = []): Glob => [...literal(path === '/' ? '/' : `${path}/`), ...between, ...name];
  const texts = [
    ...(parents.length > 0 ? [`no direct child of ${parents.join(', ')}`] : []),
    ...(runtimes.length > 0 ? [`no pod of ${runtimes.join(', ')}`] : []),
    ...(hasUnits ? [`no unit of ${[...slices, ...units].join(', ')}`] : []),
  ];
  // Workloads that are not cgroups, as programs of Windows, and cgroups in managed units can have almost any name and path.
  const anything = selections.some((selection) => selection === undefined || selection.managedOom) ? [ANY_PATH] : [];
  return {
    hasLabels: runtimes.length > 0,
    names: [
      ...(parents.length > 0 || hasContainers ? [ANY_NAME] : []),
      ...unitNames,
      ...(runtimes.length > 0 ? POD_NAMES : []),
      ...anything,
    ],
    paths: [
      ...parents.map((parent) => below(parent, ANY_NAME)),
      ...slices.flatMap((slice) => UNITS.map((name) => below(slicePath(slice), name, ANY_PATH))),
      ...units.map((unit) => below('/', globOf(unit), ANY_PATH)),
      ...(runtimes.length > 0 ? [below('/', ANY_NAME, ANY_PATH)] : []),
      ...anything,
    ],
    nameText:
      parents.length > 0
        ? "a workload's name is the name of a direct child of its source, without a /"
        : hasUnits
          ? "a workload's name is the name of a unit of its source, as systemctl shows it"
          : "a workload's name is NAMESPACE/POD or NAMESPACE/POD/CONTAINER",
    nameHint: (pattern) =>
      runtimes.length > 0 && !pattern.includes('/')
        ? `name: '*/${pattern}' for a pod of any namespace`
        : hasUnits && !pattern.includes('/')
          ? `name: ${pattern.replace(/\.[a-z]*$/, '')}.service`
          : 'remove the directories from name, or match by path',
    pathText: texts.join(', '),
    pathHint:
      parents[0] === undefined
        ? 'match the unit by its name: {name: web.service}'
        : `a workload's path is its source and its name: ${parents[0]}/NAME`,
  };
}
