import { describe, expect, test } from 'vitest';
import type { ConfigFlags } from '../../../src/config/merge/flags.js';
import { loadWritten } from '../../../src/config/load.js';
import { thresholdId, thresholdKind } from '../../../src/core/threshold/threshold.js';
import { errorOf, issuesOf, load } from '../scratch.js';

const OFF = 'evictionHard: {memory.available: 0%, nodefs.available: 0%, nodefs.inodesFree: 0%}\n';
const ids = (yaml: string): string[] => load({ 'config.yaml': OFF + yaml }).config.thresholds.map(thresholdId);

test.each<[rule: string, entry: string, id: string]>([
  [
    'soft, after its time',
    "{when: 'memory.pressure.full>40% & memory.available<10%', kind: soft, for: 10s}",
    'memory.pressure.full>40% & memory.available<10%/10000000000 soft',
  ],
  ['hard, at once', "{when: 'memory.available<10% & swap.available<10%', kind: hard}", 'memory.available<10% & swap.available<10%/0 hard'],
  ['hard, after its time', "{when: 'memory.pressure.full>40%', kind: hard, for: 1m}", 'memory.pressure.full>40%/60000000000 hard'],
  ['soft, at once', "{when: 'memory.available<10%', kind: soft, for: 0s}", 'memory.available<10%/0 soft'],
])('an entry of the threshold list: %s', (_rule, entry, id) => {
  expect(ids(`thresholds: [${entry}]\n`)).toEqual([id]);
});

test('the kind of a threshold is that of its entry, whatever its grace period', () => {
  const { thresholds } = load({
    'config.yaml': `${OFF}thresholds: [{when: 'memory.available<1Gi', kind: hard, for: 9s}, {when: 'memory.available<1Gi', kind: soft, for: 0s}]\n`,
  }).config;
  expect(thresholds.map(thresholdKind)).toEqual(['hard', 'soft']);
});

test('the lists of all files are concatenated, after the maps', () => {
  const { config, origins } = load({
    'config.yaml': "departures: {thrashing: false}\nthresholds: [{when: 'io.pressure.some>5%', kind: hard}]\n",
    'config.d/50.yaml': "thresholds: [{when: 'cpu.pressure.some>5%', kind: soft, for: 1s}]\n",
  });
  expect(config.thresholds.slice(-2).map(({ signal }) => signal)).toEqual(['io.pressure.some', 'cpu.pressure.some']);
  expect(config.thresholds).toHaveLength(5);
  const origin = origins.get('thresholds[1].for');
  expect(origin?.value).toBe('1s');
  expect(origin?.origin).toMatchObject({ kind: 'set', position: { line: 1, column: 62 } });
});

test('swap and the kernel’s estimate are accepted in the maps, because they are amounts', () => {
  const yaml = `${OFF.trimEnd().slice(0, -1)}, swap.available: 10%, memory.kernelAvailable: 100Mi}\n`;
  const { thresholds } = load({ 'config.yaml': yaml }).config;
  expect(thresholds.map(thresholdId).sort()).toEqual(['memory.kernelAvailable<100Mi/0', 'swap.available<10%/0']);
  const flags: ConfigFlags = { evictionHard: ['swap.available<5%'] };
  expect(load({ 'config.yaml': OFF }, flags).config.thresholds.map(thresholdId)).toContain('swap.available<5%/0');
});

test('pressureWindow is 2s by default', () => {
  expect(load({ 'config.yaml': '{}' }).config.pressureWindowNs).toBe(2_000_000_000n);
  expect(load({ 'config.yaml': 'pressureWindow: 500ms\n' }).config.pressureWindowNs).toBe(500_000_000n);
});

test('a configuration from a recording gives the same thresholds', () => {
  const loaded = load({ 'config.yaml': "thresholds: [{when: 'memory.pressure.full>40% & memory.available<10%', kind: soft, for: 10s}]\n" });
  expect(loadWritten(loaded.written, {}).config.thresholds).toEqual(loaded.config.thresholds);
});

test.each<[rule: string, yaml: string, flags: ConfigFlags, issues: string[]]>([
  [
    'soft without a time',
    "thresholds:\n  - {when: 'memory.available<10%', kind: soft}\n",
    {},
    ['config.yaml:2:5 EVICTD_CONFIG_GRACE_PERIOD'],
  ],
  [
    'soft without a time and an invalid entry: both are reported',
    "thresholds:\n  - {when: 'memory.available<10%', kind: soft}\n  - {when: 'nonsense<1', kind: hard}\n",
    {},
    ['config.yaml:2:5 EVICTD_CONFIG_GRACE_PERIOD', 'config.yaml:3:13 EVICTD_CONFIG_SIGNAL'],
  ],
  ['the kind is missing', "thresholds:\n  - {when: 'memory.available<10%'}\n", {}, ['config.yaml:2:5 EVICTD_CONFIG_VALUE']],
  ['when is missing', 'thresholds:\n  - {kind: hard}\n', {}, ['config.yaml:2:5 EVICTD_CONFIG_MISSING']],
  ['the kind is unknown', "thresholds:\n  - {when: 'memory.available<10%', kind: firm}\n", {}, ['config.yaml:2:42 EVICTD_CONFIG_VALUE']],
  [
    'a key is unknown',
    "thresholds:\n  - {when: 'memory.available<10%', kind: hard, grace: 1s}\n",
    {},
    ['config.yaml:2:48 EVICTD_CONFIG_UNKNOWN_KEY'],
  ],
  [
    'a time without a unit',
    "thresholds:\n  - {when: 'memory.available<10%', kind: hard, for: 10}\n",
    {},
    ['config.yaml:2:53 EVICTD_CONFIG_DURATION'],
  ],
  [
    'a negative time',
    "thresholds:\n  - {when: 'memory.available<10%', kind: hard, for: -1s}\n",
    {},
    ['config.yaml:2:53 EVICTD_CONFIG_RANGE'],
  ],
  [
    'the wrong operator',
    "thresholds:\n  - when: 'memory.pressure.full<40%'\n    kind: hard\n",
    {},
    ['config.yaml:2:32 EVICTD_CONFIG_OPERATOR'],
  ],
  ['a map instead of a list', "thresholds: {when: 'memory.available<10%'}\n", {}, ['config.yaml:1:13 EVICTD_CONFIG_TYPE']],
  [
    'an entry twice',
    "thresholds:\n  - {when: 'swap.available<10%', kind: hard}\n  - {when: 'swap.available < 10%', kind: hard, for: 0s}\n",
    {},
    ['config.yaml:3:5 EVICTD_CONFIG_DUPLICATE_KEY'],
  ],
  ['a window shorter than the kernel’s shortest', 'pressureWindow: 499ms\n', {}, ['config.yaml:1:17 EVICTD_CONFIG_RANGE']],
  ['a window longer than the kernel’s longest', 'pressureWindow: 11s\n', {}, ['config.yaml:1:17 EVICTD_CONFIG_RANGE']],
  ['pressure in a map', 'evictionHard: {memory.pressure.full: 40%}\n', {}, ['config.yaml:1:16 EVICTD_CONFIG_SIGNAL']],
  ['a comma at the end of a flag', '{}', { evictionHard: ['memory.available<1Gi, '] }, ['--eviction-hard:21 EVICTD_CONFIG_FLAG']],
  ['a comma at its start', '{}', { evictionHard: [',memory.available<1Gi'] }, ['--eviction-hard:1 EVICTD_CONFIG_FLAG']],
  [
    'there are two commas',
    '{}',
    { evictionMinimumReclaim: ['memory.available=1Mi,,nodefs.available=1Mi'] },
    ['--eviction-minimum-reclaim:21 EVICTD_CONFIG_FLAG'],
  ],
  ['pressure in a flag', '{}', { evictionHard: ['memory.pressure.full>40%'] }, ['--eviction-hard:1 EVICTD_CONFIG_FLAG']],
  [
    'pressure in a flag with the operator of an amount',
    '{}',
    { evictionHard: ['memory.pressure.full<40%'] },
    ['--eviction-hard:1 EVICTD_CONFIG_SIGNAL'],
  ],
])('an entry is refused: %s', (_rule, yaml, flags, issues) => {
  expect(issuesOf(() => load({ 'config.yaml': yaml }, flags))).toEqual(issues);
});

test.each<[profile: string, yaml: string, flags: ConfigFlags]>([
  ['a file', 'compatibility: kubelet\n', {}],
  ['a flag', '{}', { compatibility: 'kubelet' }],
])('with compatibility: kubelet in %s a superfluous comma is ignored, as in the kubelet', (_where, yaml, flags) => {
  const { config } = load({ 'config.yaml': yaml }, { ...flags, evictionHard: [',nodefs.available<10%,,'] });
  expect(config.thresholds.map(({ signal }) => signal)).toEqual(['nodefs.available']);
});

describe('the profile kubelet', () => {
  const KUBELET = 'compatibility: kubelet\n';
  test.each<[rule: string, yaml: string, flags: ConfigFlags, issues: string[]]>([
    ['a list', `${KUBELET}thresholds: [{when: 'memory.available<10%', kind: hard}]\n`, {}, ['config.yaml:2:1 EVICTD_CONFIG_PROFILE']],
    ['a window', `${KUBELET}pressureWindow: 1s\n`, {}, ['config.yaml:2:1 EVICTD_CONFIG_PROFILE']],
    ['a budget', `${KUBELET}evictionBudget: {max: 3}\n`, {}, ['config.yaml:2:1 EVICTD_CONFIG_PROFILE']],
    ['swap in a map', `${KUBELET}evictionHard: {swap.available: 10%}\n`, {}, ['config.yaml:2:16 EVICTD_CONFIG_PROFILE']],
    ['pressure in a map', `${KUBELET}evictionHard: {memory.pressure.full: 10%}\n`, {}, ['config.yaml:2:16 EVICTD_CONFIG_PROFILE']],
    [
      'swap in a flag',
      KUBELET,
      { evictionHard: ['memory.available<1Gi,swap.available<10%'] },
      ['--eviction-hard:22 EVICTD_CONFIG_PROFILE'],
    ],
    [
      'the compatibility is a flag',
      'thresholds: [{when: "swap.available<1%", kind: hard}]\n',
      { compatibility: 'kubelet' },
      ['config.yaml:1:1 EVICTD_CONFIG_PROFILE'],
    ],
    ['the estimate in a flag', KUBELET, { evictionSoft: ['memory.kernelAvailable<10%'] }, ['--eviction-soft:1 EVICTD_CONFIG_PROFILE']],
  ])('has no %s', (_rule, yaml, flags, issues) => {
    const read = () => load({ 'config.yaml': yaml }, flags);
    expect(issuesOf(read)).toEqual(issues);
    expect(errorOf(read).issues[0]?.hint).toMatch(/compatibility: evictd/);
  });

  test('accepts an empty list', () => {
    expect(load({ 'config.yaml': `${KUBELET}thresholds: []\n` }).config.compatibility).toBe('kubelet');
  });

  test('has no list in a KubeletConfiguration, and the hint is a drop-in', () => {
    const yaml =
      "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nthresholds: [{when: 'memory.available<10%', kind: hard}]\n";
    const { notices } = load({ 'config.yaml': yaml });
    expect(notices.find(({ code }) => code === 'EVICTD_CONFIG_KEYS_UNUSED')).toMatchObject({ message: 'not used by evictd: thresholds' });
  });
});
