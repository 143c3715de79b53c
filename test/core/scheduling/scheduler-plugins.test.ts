import { expect, test } from 'vitest';
import { pluginsAt, type PluginSet, type PluginSets } from '../../../src/core/scheduling/scheduler-plugins.js';

const set = (enabled: readonly string[], disabled: readonly string[] = []): PluginSet => ({
  enabled: enabled.map((plugin) => {
    const [name = '', weight = '0'] = plugin.split(' ');
    return { name, weight: Number(weight) };
  }),
  disabled,
});
const DEFAULT_SCORES = [
  ...['TaintToleration 3', 'NodeAffinity 2', 'NodeResourcesFit 1', 'VolumeBinding 1', 'PodTopologySpread 2', 'InterPodAffinity 2'],
  ...['DynamicResources 2', 'NodeResourcesBalancedAllocation 1', 'ImageLocality 1'],
];

test.each<[rule: string, sets: PluginSets, scores: readonly string[]]>([
  ['the default', {}, DEFAULT_SCORES],
  [
    'a plugin that is enabled here comes first, with its own weight or 1',
    { score: set(['ImageLocality', 'NodeAffinity 9']) },
    ['ImageLocality 1', 'NodeAffinity 9', ...DEFAULT_SCORES.slice(0, 1), ...DEFAULT_SCORES.slice(2, 8)],
  ],
  ['all plugins are disabled here', { score: set(['NodeAffinity 4'], ['*']) }, ['NodeAffinity 4']],
  ['one plugin is disabled here', { score: set([], ['NodeAffinity']) }, DEFAULT_SCORES.toSpliced(1, 1)],
  ['one plugin is disabled at all extension points', { multiPoint: set([], ['NodeAffinity']) }, DEFAULT_SCORES.toSpliced(1, 1)],
  [
    'a plugin that is enabled again at all extension points keeps its position',
    { multiPoint: set(['NodeAffinity']) },
    DEFAULT_SCORES.with(1, 'NodeAffinity 1'),
  ],
  [
    'all plugins are disabled at all extension points, and others are enabled, one of which scores',
    { multiPoint: set(['NodeName', 'ImageLocality 3'], ['*']), score: set(['NodeAffinity']) },
    ['ImageLocality 3', 'NodeAffinity 1'],
  ],
])('scores: %s', (_rule, sets, scores) => {
  expect(pluginsAt('score', sets).map(({ name, weight }) => `${name} ${String(weight)}`)).toEqual(scores);
});
