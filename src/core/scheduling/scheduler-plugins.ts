// Which plugins of kube-scheduler act where (apis/config/v1/default_plugins.go; framework/runtime, expandMultiPointPlugins; v1.36.2).

export const EXTENSION_POINTS = [
  ...(['preEnqueue', 'queueSort', 'preFilter', 'filter', 'postFilter', 'preScore', 'score'] as const),
  ...(['reserve', 'permit', 'preBind', 'bind', 'postBind'] as const),
] as const;
export type ExtensionPoint = (typeof EXTENSION_POINTS)[number];

export interface EnabledPlugin {
  readonly name: string;
  /** 0: not set, which counts 1. */
  readonly weight: number;
}

/** The plugins of one extension point, as in a KubeSchedulerConfiguration. */
export interface PluginSet {
  readonly enabled: readonly EnabledPlugin[];
  /** '*': all. */
  readonly disabled: readonly string[];
}

/** What a profile changes. `multiPoint`: at all extension points of the plugin. */
export type PluginSets = Readonly<Partial<Record<ExtensionPoint | 'multiPoint', PluginSet>>>;

interface DefaultPlugin extends EnabledPlugin {
  readonly points: readonly ExtensionPoint[];
}

const FILTERS = ['preFilter', 'filter'] as const;
const SCORES = ['preScore', 'score'] as const;

/** The plugins in the order of the default profile. */
export const DEFAULT_PLUGINS: readonly DefaultPlugin[] = [
  { name: 'SchedulingGates', weight: 0, points: ['preEnqueue'] },
  { name: 'PrioritySort', weight: 0, points: ['queueSort'] },
  { name: 'NodeUnschedulable', weight: 0, points: ['filter'] },
  { name: 'NodeName', weight: 0, points: ['filter'] },
  { name: 'TaintToleration', weight: 3, points: ['filter', ...SCORES] },
  { name: 'NodeAffinity', weight: 2, points: [...FILTERS, ...SCORES] },
  { name: 'NodePorts', weight: 0, points: FILTERS },
  { name: 'NodeResourcesFit', weight: 1, points: [...FILTERS, ...SCORES] },
  { name: 'VolumeRestrictions', weight: 0, points: FILTERS },
  { name: 'NodeVolumeLimits', weight: 0, points: FILTERS },
  { name: 'VolumeBinding', weight: 0, points: [...FILTERS, ...SCORES, 'reserve', 'preBind'] },
  { name: 'VolumeZone', weight: 0, points: FILTERS },
  { name: 'PodTopologySpread', weight: 2, points: [...FILTERS, ...SCORES] },
  { name: 'InterPodAffinity', weight: 2, points: [...FILTERS, ...SCORES] },
  { name: 'DynamicResources', weight: 2, points: ['preEnqueue', ...FILTERS, 'postFilter', 'score', 'reserve', 'preBind'] },
  { name: 'DefaultPreemption', weight: 0, points: ['preEnqueue', 'postFilter'] },
  { name: 'NodeResourcesBalancedAllocation', weight: 1, points: SCORES },
  { name: 'ImageLocality', weight: 1, points: ['score'] },
  { name: 'DefaultBinder', weight: 0, points: ['bind'] },
  { name: 'NodeDeclaredFeatures', weight: 0, points: FILTERS },
];

/**
 * The plugins at an extension point, in the order in which they act. One that is enabled there comes before those of multiPoint
 * if it is one of them, and after them if not.
 */
export function pluginsAt(point: ExtensionPoint, sets: PluginSets): readonly EnabledPlugin[] {
  const { enabled, disabled } = sets[point] ?? NO_SET;
  const isOff = (name: string): boolean => disabled.includes('*') || disabled.includes(name);
  const own = new Map(enabled.map((plugin) => [plugin.name, plugin]));
  const isHere = (name: string): boolean => DEFAULT_PLUGINS.some((plugin) => plugin.name === name && plugin.points.includes(point));
  const ofAll = multiPoint(sets).filter(({ name }) => isHere(name) && !isOff(name));
  const names = new Set(ofAll.map(({ name }) => name));
  const [overriding, others] = [enabled.filter(({ name }) => names.has(name)), enabled.filter(({ name }) => !names.has(name))];
  const weightOf = ({ name, weight }: EnabledPlugin): EnabledPlugin => ({ name, weight: weight === 0 ? 1 : weight });
  return [...overriding, ...ofAll.filter(({ name }) => !own.has(name)), ...others].map(weightOf);
}

const NO_SET: PluginSet = { enabled: [], disabled: [] };

/** A default plugin that is enabled again keeps its place. */
function multiPoint({ multiPoint: set = NO_SET }: PluginSets): readonly EnabledPlugin[] {
  const { enabled, disabled } = set;
  const kept = DEFAULT_PLUGINS.filter(({ name }) => !disabled.includes('*') && !disabled.includes(name));
  const own = new Map(enabled.map((plugin) => [plugin.name, plugin]));
  const names = new Set(kept.map(({ name }) => name));
  return [...kept.map((plugin) => own.get(plugin.name) ?? plugin), ...enabled.filter(({ name }) => !names.has(name))];
}
