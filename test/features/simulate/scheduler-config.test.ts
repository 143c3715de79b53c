import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { exitCodeOf, formatError } from '../../../src/cli/output/error-text.js';
import type { SchedulerProfiles } from '../../../src/core/scheduling/scheduler-profile.js';
import { readSchedulerConfig } from '../../../src/features/simulate/scheduler-config.js';
import { Findings, findingText } from '../../../src/features/kubernetes/cluster/finding.js';

const directory = mkdtempSync(join(tmpdir(), `evictd-scheduler-config-${String(process.pid)}-`));
afterAll(() => {
  rmSync(directory, { recursive: true });
});

const HEAD = 'apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n';

interface Read {
  readonly profiles: SchedulerProfiles | undefined;
  /** Of errors and findings, without the file. */
  readonly lines: readonly string[];
  readonly exit: number | undefined;
}

function read(text: string): Read {
  const file = join(directory, 'scheduler.yaml');
  writeFileSync(file, text);
  const findings = new Findings();
  const plain = (line: string): string => line.replace(`${file}:`, '');
  try {
    const profiles = readSchedulerConfig(file, findings);
    return { profiles, lines: findings.list.map((finding) => plain(findingText(finding))), exit: undefined };
  } catch (error) {
    return { profiles: undefined, lines: formatError(error).trim().split('\n').map(plain), exit: exitCodeOf(error) };
  }
}

const profile = (text: string): string => `${HEAD}profiles:\n- ${text.replaceAll('\n', '\n  ')}\n`;
const args = (name: string, text: string): string => profile(`pluginConfig:\n- name: ${name}\n  args: ${text}`);

test.each<[rule: string, text: string, lines: readonly string[]]>([
  [
    'text that is cut off',
    'kind: [',
    [
      '1:8: EVICTD_CONFIG_SYNTAX Flow sequence in block collection must be sufficiently indented and end with a ] (hint: the file has one KubeSchedulerConfiguration, as YAML or JSON)',
    ],
  ],
  [
    'another kind',
    'apiVersion: v1\nkind: ConfigMap\n',
    ['2:7: EVICTD_CONFIG_KIND no KubeSchedulerConfiguration: apiVersion "v1", kind "ConfigMap" (hint: take the text out of its data)'],
  ],
  [
    'another version',
    HEAD.replace('/v1', '/v1beta3'),
    [
      '1:13: EVICTD_CONFIG_KIND no KubeSchedulerConfiguration: apiVersion "kubescheduler.config.k8s.io/v1beta3", kind "KubeSchedulerConfiguration" (hint: write apiVersion: kubescheduler.config.k8s.io/v1 and kind: KubeSchedulerConfiguration)',
    ],
  ],
  [
    'several errors, all reported at once',
    `${profile('plugins: { filters: {} }\npercentageOfNodesToScore: 101')}profile: []\n`,
    [
      '4:14: EVICTD_CONFIG_UNKNOWN_KEY unknown key profiles[0].plugins.filters (hint: did you mean filter?)',
      '5:29: EVICTD_CONFIG_RANGE profiles[0].percentageOfNodesToScore: out of range: 101 (hint: a whole number from 0 to 100, without quotes)',
      '6:1: EVICTD_CONFIG_UNKNOWN_KEY unknown key profile (hint: did you mean profiles?)',
    ],
  ],
  [
    'several profiles without names',
    `${HEAD}profiles: [{}, { schedulerName: a }, { schedulerName: a }]`,
    [
      '3:12: EVICTD_CONFIG_MISSING profiles[0].schedulerName: is missing (hint: give it a value)',
      '3:55: EVICTD_CONFIG_VALUE profiles[2].schedulerName: duplicate a (hint: name each profile)',
    ],
  ],
  [
    'a plugin where it does not act',
    profile('plugins: { score: { enabled: [{ name: NodeName }] } }'),
    ['4:41: EVICTD_CONFIG_VALUE profiles[0].plugins.score.enabled[0].name: NodeName does not act at score (hint: it acts at filter)'],
  ],
  [
    'a plugin that is enabled twice',
    profile('plugins: { score: { enabled: [{ name: ImageLocality }, { name: ImageLocality }] } }'),
    ['4:58: EVICTD_CONFIG_VALUE profiles[0].plugins.score.enabled[1]: duplicate ImageLocality (hint: remove one of them)'],
  ],
  [
    'arguments of another plugin',
    args('NodeAffinity', '{ kind: NodeResourcesFitArgs }'),
    ['6:19: EVICTD_CONFIG_KIND profiles[0].pluginConfig[0].args.kind: not NodeAffinityArgs (hint: write kind: NodeAffinityArgs)'],
  ],
  [
    'an unknown strategy',
    args('NodeResourcesFit', '{ scoringStrategy: { type: Mostallocated } }'),
    [
      '6:38: EVICTD_CONFIG_VALUE profiles[0].pluginConfig[0].args.scoringStrategy.type: "Mostallocated" is not one of LeastAllocated, MostAllocated, RequestedToCapacityRatio (hint: did you mean MostAllocated?)',
    ],
  ],
  [
    'a shape that falls back',
    args(
      'NodeResourcesFit',
      '{ scoringStrategy: { type: RequestedToCapacityRatio, requestedToCapacityRatio: { shape: [{ utilization: 9, score: 0 }, { utilization: 9, score: 1 }] } } }',
    ),
    [
      '6:145: EVICTD_CONFIG_VALUE profiles[0].pluginConfig[0].args.scoringStrategy.requestedToCapacityRatio.shape[1].utilization: 9 is not above the one before (hint: sort the points)',
    ],
  ],
  [
    'constraints that do not count',
    args('PodTopologySpread', '{ defaultConstraints: [{ maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway }] }'),
    [
      '6:33: EVICTD_CONFIG_VALUE profiles[0].pluginConfig[0].args.defaultConstraints: count only with defaultingType List (hint: write defaultingType: List)',
    ],
  ],
  [
    'an unknown argument',
    args('InterPodAffinity', '{ hardPodAffinity: 5 }'),
    [
      '6:13: EVICTD_CONFIG_UNKNOWN_KEY unknown key profiles[0].pluginConfig[0].args.hardPodAffinity (hint: did you mean hardPodAffinityWeight?)',
    ],
  ],
])('the scheduler configuration with %s is refused', (_rule, text, lines) => {
  expect(read(text)).toEqual<Read>({ profiles: undefined, lines, exit: 78 });
});

test.each<[rule: string, text: string, line: string]>([
  ['extenders', `${HEAD}extenders: [{ urlPrefix: http://x }]`, '3:12: warning: extenders: not simulated: extenders may reject nodes'],
  ['times of retries', `${HEAD}podMaxBackoffSeconds: 9`, '3:23: warning: podMaxBackoffSeconds: not simulated: '],
  [
    'a plugin of another scheduler',
    profile('plugins: { multiPoint: { enabled: [{ name: Coscheduling }] } }'),
    '4:46: warning: profiles[0].plugins.multiPoint.enabled[0].name: not simulated: Coscheduling is not a plugin of kube-scheduler',
  ],
  [
    'a plugin whose name is wrong',
    profile('plugins: { filter: { disabled: [{ name: NodeResourceFit }] } }'),
    'NodeResourceFit is not a plugin of kube-scheduler v1.36: did you mean NodeResourcesFit?',
  ],
  ['another queue order', profile('plugins: { queueSort: { disabled: [{ name: "*" }] } }'), 'profiles[0].plugins.queueSort: not simulated'],
  [
    'claims that keep unused devices',
    profile('plugins: { postFilter: { disabled: [{ name: "*" }] } }'),
    'profiles[0].plugins.postFilter: not simulated: DynamicResources gives devices back in any case',
  ],
  [
    'a plugin that does not prepare its filter',
    profile('plugins: { preFilter: { disabled: [{ name: NodePorts }] } }'),
    'profiles[0].plugins.preFilter: not simulated: NodePorts is enabled in filter, and acts in both',
  ],
  ['arguments of a plugin that has none', args('NodeName', '{ x: 1 }'), 'pluginConfig[0].name: not simulated: NodeName has no arguments'],
])('the scheduler configuration with %s is a finding, and the rest of it is used', (_rule, text, line) => {
  const { lines, profiles } = read(text);
  expect(lines).toEqual([expect.stringContaining(line)]);
  expect([...(profiles?.keys() ?? [])]).toEqual(['default-scheduler']);
});

test('settings that decide where pods run are read, and others are accepted', () => {
  const { lines, profiles } = read(
    `${HEAD}parallelism: 4
leaderElection: { leaderElect: true }
percentageOfNodesToScore: 30
profiles:
- plugins:
    score: { enabled: [{ name: ImageLocality, weight: 7 }], disabled: [{ name: NodeAffinity }] }
    filter: { disabled: [{ name: NodeResourcesFit }] }
    postFilter: { disabled: [{ name: DefaultPreemption }] }
  pluginConfig:
  - { name: DefaultPreemption, args: { minCandidateNodesPercentage: 0, minCandidateNodesAbsolute: 7 } }
  - { name: NodeAffinity, args: null }
  - { name: InterPodAffinity, args: { apiVersion: kubescheduler.config.k8s.io/v1, kind: InterPodAffinityArgs, hardPodAffinityWeight: 9 } }
- schedulerName: other
  percentageOfNodesToScore: 40
`.replace('- plugins', '- schedulerName: first\n  plugins'),
  );
  expect(lines).toEqual([]);
  const [first, other] = [profiles?.get('first'), profiles?.get('other')];
  expect(first).toMatchObject({
    percentageOfNodesToScore: 30,
    hardPodAffinityWeight: 9,
    minCandidateNodes: { percentage: 0, absolute: 7 },
    plugins: { preempts: false },
  });
  expect(first?.plugins.filters).not.toContain('NodeResourcesFit');
  expect(first?.plugins.scores.map(({ name, weight }) => `${name} ${String(weight)}`)).toEqual([
    ...['ImageLocality 7', 'TaintToleration 3', 'NodeResourcesFit 1', 'VolumeBinding 1', 'PodTopologySpread 2', 'InterPodAffinity 2'],
    ...['DynamicResources 2', 'NodeResourcesBalancedAllocation 1'],
  ]);
  expect(other).toMatchObject({ percentageOfNodesToScore: 40, plugins: { preempts: true } });
});

test.each(['50', '50.0', '5e1', '0x32'])('a number may be written as %s', (number) => {
  const { profiles, lines } = read(`${HEAD}percentageOfNodesToScore: ${number}\n`);
  expect(lines).toEqual([]);
  expect([...(profiles ?? [])].map(([, { percentageOfNodesToScore }]) => percentageOfNodesToScore)).toEqual([50]);
});
