import { expect, test } from 'vitest';
import type { LoadedConfig, Origin } from '../../../src/config/config.js';
import type { ConfigFlags } from '../../../src/config/merge/flags.js';
import { DEPARTURES, departuresOf } from '../../../src/core/decide/departures.js';
import { thresholdId } from '../../../src/core/threshold/threshold.js';
import { formatPosition } from '../../../src/cli/output/error-text.js';
import { load, THRASHING } from '../scratch.js';

const idsOf = ({ config }: LoadedConfig): string[] => config.thresholds.map(thresholdId).filter((id) => id !== THRASHING);

const noticesOf = ({ notices }: LoadedConfig): string[] =>
  notices.map(({ level, code, message }) => `${level} ${code.replace('EVICTD_CONFIG_', '')} ${message}`);

/** An origin for people, without the directory. */
function at(origin: Origin | undefined): string {
  switch (origin?.kind) {
    case undefined:
    case 'default':
      return 'default';
    case 'set':
      return formatPosition(origin.position).replace(/^\/.*\/evictd-test-[^/]*\//, '');
    case 'follows':
      return `${origin.key}: ${String(origin.value)}`;
    case 'copied':
      return `copied from ${origin.from}`;
  }
}

const KUBELET = 'compatibility: kubelet\n';
const DEFAULTS = ['memory.available<100Mi/0', 'nodefs.available<10%/0', 'nodefs.inodesFree<5%/0'];
const COPY = 'allocatableMemory.available<100Mi/0';
const ALLOCATABLE = 'allocatable: {cgroup: /a, capacity: 4Gi}\n';
/** Nothing but memory, so that no default is left to speak of. */
const BOTH = (own: string): string =>
  `evictionHard: {allocatableMemory.available: ${own}, memory.available: 1Gi, nodefs.available: 0%, nodefs.inodesFree: 0%}\n`;

test.each<[rule: string, yaml: string, expected: object]>([
  ['the default', '', { compatibility: 'evictd', departures: departuresOf('evictd') }],
  ['the kubelet, bit for bit', KUBELET, { compatibility: 'kubelet', departures: departuresOf('kubelet') }],
  [
    'a kubelet configuration with one departure switched off',
    'departures: {inode-ranking: false, no-yield: true}\n',
    { departures: { ...departuresOf('evictd'), 'inode-ranking': false } },
  ],
  [
    'a configuration with one departure from the kubelet',
    `${KUBELET}departures: {hard-grace: true}\n`,
    { departures: { ...departuresOf('kubelet'), 'hard-grace': true } },
  ],
  ['a configuration without allocatable memory', '', { allocatable: undefined }],
  ['allocatable', 'allocatable: {cgroup: /kubepods/, capacity: 1Ki}\n', { allocatable: { cgroup: '/kubepods', capacity: 1024n } }],
  [
    'allocatable by the limit of its cgroup',
    'allocatable: {cgroup: /kubepods}\n',
    { allocatable: { cgroup: '/kubepods', capacity: undefined } },
  ],
  ['processes are not marked', '', { oomScoreAdj: 'off' }],
  ['off is a word in YAML 1.2', 'oomScoreAdj: off\n', { oomScoreAdj: 'off' }],
  ['processes are marked by rank', 'oomScoreAdj: rank\n', { oomScoreAdj: 'rank' }],
])('the profile is read from %s', (_rule, yaml, expected) => {
  expect(load({ 'config.yaml': yaml }).config).toMatchObject(expected);
});

test('drop-ins switch departures one by one, and a flag sets the profile under them', () => {
  const files = {
    'config.yaml': 'departures: {no-yield: true, image-usage: true}\n',
    'config.d/1.yaml': 'departures: {image-usage: false}\n',
  };
  const { config, origins } = load(files, { compatibility: 'kubelet', oomScoreAdj: 'qos' });
  expect(config.departures).toEqual({ ...departuresOf('kubelet'), 'no-yield': true });
  expect(config.oomScoreAdj).toBe('qos');
  const shown = ['compatibility', 'departures.image-usage', 'departures.no-yield', 'departures.hard-grace'].map((key) => {
    const entry = origins.get(key);
    return `${JSON.stringify(entry?.value)} ${at(entry?.origin)}`;
  });
  expect(shown).toEqual([
    '"kubelet" --compatibility:1',
    'false config.d/1.yaml:1:27',
    'true config.yaml:1:24',
    'false compatibility: kubelet',
  ]);
});

test('every departure is shown, in the order in which they are listed', () => {
  const shown = [...load({ 'config.yaml': '' }).origins.keys()].filter((key) => key.startsWith('departures.'));
  expect(shown).toEqual(DEPARTURES.map((name) => `departures.${name}`));
});

test.each<[rule: string, yaml: string, key: string, origin: string]>([
  ['the default profile', '', 'mergeDefaultEvictionSettings', 'default'],
  ['a departure, by the profile', KUBELET, 'departures.no-yield', 'compatibility: kubelet'],
  ['a value that a departure decides, by the profile', KUBELET, 'mergeDefaultEvictionSettings', 'compatibility: kubelet'],
  ['the grace period, by the profile', KUBELET, 'evictionMaxPodGracePeriod', 'compatibility: kubelet'],
  ['a departure of its own', 'departures: {merge-defaults: false}\n', 'mergeDefaultEvictionSettings', 'departures.merge-defaults: false'],
  [
    'the grace period, by its departure',
    'departures: {soft-default-grace: false}\n',
    'evictionMaxPodGracePeriod',
    'departures.soft-default-grace: false',
  ],
  ['a value that is set keeps its position', `${KUBELET}evictionMaxPodGracePeriod: 3\n`, 'evictionMaxPodGracePeriod', 'config.yaml:2:28'],
])('the origin of a value that is not set: %s', (_rule, yaml, key, origin) => {
  expect(at(load({ 'config.yaml': yaml }).origins.get(key)?.origin)).toBe(origin);
});

test.each<[rule: string, yaml: string, flags: ConfigFlags, thresholds: string[], notices: string[]]>([
  ['the defaults hold where no signal is set', 'departures: {merge-defaults: false}\n', {}, DEFAULTS, []],
  [
    'one set signal drops the other defaults, with a notice',
    'departures: {merge-defaults: false}\nevictionHard: {memory.available: 1Gi}\n',
    {},
    ['memory.available<1Gi/0'],
    [
      'warn DEFAULTS_DROPPED evictionHard drops the defaults of signals that it does not set, as in the kubelet (nodefs.available, nodefs.inodesFree); in effect: memory.available<1Gi',
    ],
  ],
  [
    'an empty map stays empty',
    'departures: {merge-defaults: false}\nevictionHard: {}\n',
    {},
    [],
    [
      'warn DEFAULTS_DROPPED evictionHard drops the defaults of signals that it does not set, as in the kubelet (memory.available, nodefs.available, nodefs.inodesFree); in effect: none',
    ],
  ],
  [
    'a flag drops them, too',
    'departures: {merge-defaults: false}\n',
    { evictionHard: ['pid.available<9'] },
    ['pid.available<9/0'],
    [
      'warn DEFAULTS_DROPPED evictionHard drops the defaults of signals that it does not set, as in the kubelet (memory.available, nodefs.available, nodefs.inodesFree); in effect: pid.available<9',
    ],
  ],
  [
    'everything set: no notice',
    'departures: {merge-defaults: false}\nevictionHard: {memory.available: 1Gi, nodefs.available: 0%, nodefs.inodesFree: 1%}\n',
    {},
    ['memory.available<1Gi/0', 'nodefs.inodesFree<1%/0'],
    [],
  ],
  [
    'mergeDefaultEvictionSettings fills in what the kubelet would drop',
    'departures: {merge-defaults: false}\nmergeDefaultEvictionSettings: true\nevictionHard: {memory.available: 1Gi}\n',
    {},
    ['memory.available<1Gi/0', ...DEFAULTS.slice(1)],
    [
      'info DEFAULTS_KEPT evictionHard keeps the defaults of signals that it does not set (nodefs.available, nodefs.inodesFree); in effect: memory.available<1Gi, nodefs.available<10%, nodefs.inodesFree<5%',
    ],
  ],
  [
    'an empty map is filled with the defaults, too',
    'departures: {merge-defaults: false}\nmergeDefaultEvictionSettings: true\nevictionHard: {}\n',
    {},
    DEFAULTS,
    [
      'info DEFAULTS_KEPT evictionHard keeps the defaults of signals that it does not set (memory.available, nodefs.available, nodefs.inodesFree); in effect: memory.available<100Mi, nodefs.available<10%, nodefs.inodesFree<5%',
    ],
  ],
  [
    'mergeDefaultEvictionSettings: false drops them with either departure',
    'mergeDefaultEvictionSettings: false\nevictionHard: {memory.available: 1Gi}\n',
    {},
    ['memory.available<1Gi/0'],
    [
      'info DEFAULTS_DROPPED evictionHard drops the defaults of signals that it does not set, as in the kubelet (nodefs.available, nodefs.inodesFree); in effect: memory.available<1Gi',
    ],
  ],
])('merge-defaults: %s', (_rule, yaml, flags, thresholds, notices) => {
  const loaded = load({ 'config.yaml': yaml }, flags);
  expect(idsOf(loaded)).toEqual(thresholds);
  expect(noticesOf(loaded)).toEqual(notices);
});

const unreadable = (because: string): string =>
  `warn ALLOCATABLE ${COPY.replace('/0', '')} cannot be read without allocatable; it is copied from memory.available because of ${because}`;

test.each<[rule: string, yaml: string, thresholds: string[], notices: string[]]>([
  ['departure taken, nothing configured: no copy', '', DEFAULTS, []],
  ['departure taken, configured: copied', 'allocatable: {cgroup: /a, capacity: 1Gi}\n', [COPY, ...DEFAULTS], []],
  ['departure taken, configured without a capacity: copied', 'allocatable: {cgroup: /a}\n', [COPY, ...DEFAULTS], []],
  [
    'with the departure, configured, not enforced: it is not copied',
    'allocatable: {cgroup: /a, capacity: 1Gi}\nenforceNodeAllocatable: [none]\n',
    DEFAULTS,
    [],
  ],
  [
    'without the departure it is always copied, with a warning if it cannot be read',
    'departures: {allocatable: false}\n',
    [COPY, ...DEFAULTS],
    [unreadable('departures.allocatable: false')],
  ],
  ['without the departure by the profile it is copied', KUBELET, [COPY, ...DEFAULTS], [unreadable('compatibility: kubelet')]],
  [
    'without the departure, configured: there is no notice',
    'departures: {allocatable: false}\nallocatable: {cgroup: /a, capacity: 1Gi}\n',
    [COPY, ...DEFAULTS],
    [],
  ],
  ['without the departure, not enforced: it is not copied', 'departures: {allocatable: false}\nenforceNodeAllocatable: []\n', DEFAULTS, []],
  [
    'an own threshold that cannot be read is reported',
    'evictionHard: {allocatableMemory.available: 5%, memory.available: 0%, nodefs.available: 0%, nodefs.inodesFree: 0%}\n',
    ['allocatableMemory.available<5%/0'],
    ['warn ALLOCATABLE allocatableMemory.available<5% cannot be read without allocatable'],
  ],
  ['with the departure an own entry replaces the copy', `${BOTH('5%')}${ALLOCATABLE}`, ['allocatableMemory.available<5%/0'], []],
  ['departure taken: 0% switches the copy off', `${BOTH('0%')}${ALLOCATABLE}`, [], []],
  [
    'with the departure an own soft threshold holds beside the copy',
    `${ALLOCATABLE}evictionSoft: {allocatableMemory.available: 1Gi}\nevictionSoftGracePeriod: {allocatableMemory.available: 1s}\n`,
    [COPY, 'allocatableMemory.available<1Gi/1000000000', ...DEFAULTS],
    [],
  ],
  [
    'without the departure an own entry holds beside the copy, as in the kubelet',
    `${KUBELET}${BOTH('5%')}${ALLOCATABLE}`,
    ['allocatableMemory.available<5%/0', 'allocatableMemory.available<1Gi/0'],
    [],
  ],
  [
    'without the departure 0% does not switch the copy off, as in the kubelet',
    `${KUBELET}${BOTH('0%')}${ALLOCATABLE}`,
    ['allocatableMemory.available<1Gi/0'],
    [],
  ],
])('allocatable: %s', (_rule, yaml, thresholds, notices) => {
  const loaded = load({ 'config.yaml': yaml });
  expect(idsOf(loaded).filter((id) => id !== 'memory.available<1Gi/0')).toEqual(thresholds);
  expect(noticesOf(loaded)).toEqual(notices);
});

test.each<[rule: string, yaml: string, position: string | undefined]>([
  ['the line of the threshold', 'evictionHard: {memory.available: 1Gi}\ncompatibility: kubelet\n', '1:34'],
  ['by default it is that of the setting that causes the copy', '\ncompatibility: kubelet\n', '2:16'],
  ['it is that of the threshold itself', 'evictionHard: {allocatableMemory.available: 1Gi}\n', '1:45'],
])('the position of an unreadable allocatable threshold: %s', (_rule, yaml, position) => {
  const found = load({ 'config.yaml': yaml }).notices.filter(({ code }) => code === 'EVICTD_CONFIG_ALLOCATABLE');
  expect(found.map((notice) => [notice.position?.line, notice.position?.column].join(':'))).toEqual([position]);
});

test.each<[rule: string, yaml: string, shown: string[]]>([
  ['nothing is copied', '', []],
  [
    'the copy, with its minimum reclaim',
    `${ALLOCATABLE}evictionMinimumReclaim: {memory.available: 1Mi}\n`,
    [
      'evictionHard.allocatableMemory.available 100Mi copied from evictionHard.memory.available',
      'evictionMinimumReclaim.allocatableMemory.available 1Mi copied from evictionMinimumReclaim.memory.available',
    ],
  ],
  [
    'the copy beside an own threshold',
    `${KUBELET}${BOTH('0%')}`,
    [
      'evictionHard.allocatableMemory.available 0% config.yaml:2:45',
      'evictionHard.allocatableMemory.available (copy) 1Gi copied from evictionHard.memory.available',
    ],
  ],
  ['an own threshold instead of the copy', `${ALLOCATABLE}${BOTH('5%')}`, ['evictionHard.allocatableMemory.available 5% config.yaml:2:45']],
  [
    'a soft threshold that is hard is copied',
    `${ALLOCATABLE}evictionHard: {memory.available: 0%}\nevictionSoft: {memory.available: 2Gi}\nevictionSoftGracePeriod: {memory.available: 0s}\n`,
    [
      'evictionSoft.allocatableMemory.available 2Gi copied from evictionSoft.memory.available',
      'evictionSoftGracePeriod.allocatableMemory.available 0s copied from evictionSoftGracePeriod.memory.available',
    ],
  ],
  [
    'a soft threshold is not copied',
    `${ALLOCATABLE}evictionHard: {memory.available: 0%}\nevictionMinimumReclaim: {memory.available: 1Mi}\n`,
    [],
  ],
])('the shown origins of a copied threshold: %s', (_rule, yaml, shown) => {
  const { origins } = load({ 'config.yaml': yaml });
  const rows = [...origins].filter(([key]) => key.includes('allocatableMemory'));
  expect(rows.map(([key, { value, origin }]) => `${key} ${String(value)} ${at(origin)}`)).toEqual(shown);
});

test.each<[rule: string, yaml: string, flags: ConfigFlags, graceNs: bigint]>([
  ['the departure: 10 s', '', {}, 10_000_000_000n],
  ['without the departure an unset value is 0', 'departures: {soft-default-grace: false}\n', {}, 0n],
  ['the kubelet: 0', KUBELET, {}, 0n],
  ['set in a file', `${KUBELET}evictionMaxPodGracePeriod: 7\n`, {}, 7_000_000_000n],
  ['set as a flag', KUBELET, { evictionMaxPodGracePeriod: '8' }, 8_000_000_000n],
  ['below 0 in a file', 'evictionMaxPodGracePeriod: -1\n', {}, -1_000_000_000n],
  ['below 0 as a flag', KUBELET, { evictionMaxPodGracePeriod: '-1' }, -1_000_000_000n],
])('soft-default-grace: %s', (_rule, yaml, flags, graceNs) => {
  const { config, origins } = load({ 'config.yaml': yaml }, flags);
  expect(config.maxPodGracePeriodNs).toBe(graceNs);
  expect(origins.get('evictionMaxPodGracePeriod')?.value).toBe(Number(graceNs / 1_000_000_000n));
});

test('a transition period of 0s in a file is 5m, as in the kubelet', () => {
  expect(load({ 'config.yaml': `${KUBELET}evictionPressureTransitionPeriod: 0s\n` }).config.pressureTransitionPeriodNs).toBe(
    300_000_000_000n,
  );
});

test('a negative transition period is accepted, as in the kubelet', () => {
  const yaml = `${KUBELET}evictionPressureTransitionPeriod: -1s\n`;
  expect(load({ 'config.yaml': yaml }).config.pressureTransitionPeriodNs).toBe(-1_000_000_000n);
  expect(load({ 'config.yaml': KUBELET }, { evictionPressureTransitionPeriod: '-1s' }).config.pressureTransitionPeriodNs).toBe(
    -1_000_000_000n,
  );
});

test('NaN% is accepted, as in the kubelet', () => {
  const yaml = `${KUBELET}enforceNodeAllocatable: []\nevictionHard: {memory.available: NaN%}\nevictionMinimumReclaim: {memory.available: Inf%}\n`;
  expect(idsOf(load({ 'config.yaml': yaml }))).toEqual(['memory.available<NaN%/0+Inf%']);
});

test('a KubeletConfiguration sets enforceNodeAllocatable and mergeDefaultEvictionSettings, but compatibility is a key of evictd', () => {
  const kubelet =
    'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nenforceNodeAllocatable: [none]\nmergeDefaultEvictionSettings: false\nevictionHard: {memory.available: 1Gi}\ncompatibility: kubelet\n';
  const loaded = load({ 'config.yaml': kubelet, 'config.d/1.yaml': 'allocatable: {cgroup: /a, capacity: 1Gi}\n' });
  expect(idsOf(loaded)).toEqual(['memory.available<1Gi/0']);
  expect(loaded.config.compatibility).toBe('evictd');
  expect(noticesOf(loaded)[0]).toBe('warn KEYS_UNUSED not used by evictd: compatibility');
});

test.each<[rule: string, yaml: string, has: boolean]>([
  ['the default', '', true],
  ['switched off', 'departures: {thrashing: false}\n', false],
  ['the kubelet has none', KUBELET, false],
  ['the kubelet with the departure', `${KUBELET}departures: {thrashing: true}\n`, true],
  ['beside a list of other signals', "thresholds: [{when: 'swap.available<10%', kind: hard}]\n", true],
  [
    'replaced by an entry of the same signals',
    "thresholds: [{when: 'memory.available<5% & memory.pressure.some>50%', kind: hard}]\n",
    false,
  ],
  ['memory evicts no workload', 'evictionHard: {memory.available: 0%}\n', false],
  [
    'there is only a soft memory threshold',
    BOTH('0%').replace('1Gi', '0%') + 'evictionSoft: {memory.available: 1Gi}\nevictionSoftGracePeriod: {memory.available: 1m}\n',
    true,
  ],
  ['a cgroup as the node', 'node: {cgroup: /a}\n', false],
  ['the root cgroup is the machine', 'node: {cgroup: /}\n', true],
])('thrashing: %s', (_rule, yaml, has) => {
  const { config, origins } = load({ 'config.yaml': yaml });
  expect(config.thresholds.map(thresholdId).includes(THRASHING)).toBe(has);
  const shown = [...origins].filter(([key, { origin }]) => key.startsWith('thresholds[') && origin.kind === 'default');
  expect(shown.map(([, { value }]) => value)).toEqual(has ? ['memory.pressure.full>30% & memory.available<10%', 'soft', '3s'] : []);
});

test('Windows has no default threshold for thrashing, because it measures no pressure', () => {
  const { config } = load({ 'config.yaml': '' }, {}, undefined, { os: 'windows', programData: 'C:\\ProgramData' });
  expect(config.thresholds.filter(({ also }) => also !== undefined)).toEqual([]);
});
