import { expect, test } from 'vitest';
import type { LoadedConfig } from '../../../src/config/config.js';
import type { ConfigFlags } from '../../../src/config/merge/flags.js';
import { loadConfig } from '../../../src/config/load.js';
import { thresholdId, thresholdKind, valueText } from '../../../src/core/threshold/threshold.js';
import { formatPosition } from '../../../src/cli/output/error-text.js';
import { errorOf, load, THRASHING } from '../scratch.js';

function thresholdsOf({ config }: LoadedConfig): string[] {
  const configured = config.thresholds.filter((threshold) => thresholdId(threshold) !== THRASHING);
  return configured.map((threshold) => {
    const reclaim = threshold.minReclaim ? ` +${valueText(threshold.minReclaim)}` : '';
    return `${thresholdKind(threshold)} ${threshold.signal}<${valueText(threshold.value)}${reclaim}`;
  });
}

const DEFAULTS = ['hard memory.available<100Mi', 'hard nodefs.available<10%', 'hard nodefs.inodesFree<5%'];

test('the defaults hold without a file and flags', () => {
  const { config, notices, origins } = load({ 'config.yaml': '' });
  expect(config).toMatchObject({
    pressureTransitionPeriodNs: 300_000_000_000n,
    maxPodGracePeriodNs: 10_000_000_000n,
    monitoringIntervalNs: 10_000_000_000n,
    node: { cgroup: undefined },
    filesystems: { nodefs: '/', imagefs: undefined, containerfs: undefined },
    workloads: [],
    rules: [],
    metrics: { host: '127.0.0.1', port: 9796 },
    stateDirectory: '/var/lib/evictd',
    runtimeDirectory: '/run/evictd',
    log: { format: 'auto', level: 'info' },
  });
  expect(notices).toEqual([]);
  expect([...origins.values()].every(({ origin }) => origin.kind === 'default')).toBe(true);
});

test.each<[rule: string, yaml: string, afterNs: bigint, origin: string]>([
  ['half a millisecond', '', 500_000n, 'default'],
  ['a hook after the eviction changes nothing', 'hooks: {postEvict: [/bin/true]}', 500_000n, 'default'],
  ['a hook before it needs time', 'hooks: {preEvict: [/bin/true]}', 5_000_000n, 'hooks.preEvict'],
  ['a prekill hook of systemd-oomd needs time, too', 'hooks: {prekill: true}', 5_000_000n, 'hooks.prekill'],
  ['prekill: false is not a hook', 'hooks: {prekill: false}', 500_000n, 'default'],
  ['the configured value holds', 'hooks: {prekill: true}\nstandingOrder: {after: 2ms}', 2_000_000n, 'set'],
])('the delay of a standing order: %s', (_rule, yaml, afterNs, from) => {
  const { config, origins } = load({ 'config.yaml': yaml });
  const origin = origins.get('standingOrder.after')?.origin;
  expect([config.standingOrderAfterNs, origin?.kind === 'follows' ? origin.key : origin?.kind]).toEqual([afterNs, from]);
});

test('the default file may be absent', () => {
  expect(() => loadConfig({ platform: { os: 'linux' } })).not.toThrow();
});

test.each<[rule: string, yaml: string, flags: ConfigFlags, thresholds: string[]]>([
  ['the defaults hold where no signal is set', '', {}, DEFAULTS],
  ['an empty map keeps them', 'evictionHard: {}', {}, DEFAULTS],
  [
    'one set signal keeps the other defaults',
    'evictionHard: {memory.available: 1Gi}',
    {},
    ['hard memory.available<1Gi', ...DEFAULTS.slice(1)],
  ],
  ['0% switches a default off', 'evictionHard: {memory.available: 0%}', {}, DEFAULTS.slice(1)],
  ['100% switches a default off', 'evictionHard: {memory.available: 100%}', {}, DEFAULTS.slice(1)],
  ['0.0% is kept, and never met', 'evictionHard: {memory.available: 0.0%}', {}, ['hard memory.available<0.0%', ...DEFAULTS.slice(1)]],
  ['a number is the text that was written', 'evictionHard: {pid.available: 1000}', {}, [...DEFAULTS, 'hard pid.available<1k']],
  [
    'a flag replaces the map of the files',
    'evictionHard: {pid.available: 1k}',
    { evictionHard: ['memory.available<1Gi'] },
    ['hard memory.available<1Gi', ...DEFAULTS.slice(1)],
  ],
  ['an empty flag replaces it, too', 'evictionHard: {pid.available: 1k}', { evictionHard: [''] }, DEFAULTS],
  [
    'a flag given twice adds up',
    '',
    { evictionHard: ['memory.available<1Gi', 'pid.available<9,memory.available<2Gi'] },
    ['hard memory.available<2Gi', ...DEFAULTS.slice(1), 'hard pid.available<9'],
  ],
  ['white space in a flag', '', { evictionHard: [' memory.available < 1Gi '] }, ['hard memory.available<1Gi', ...DEFAULTS.slice(1)]],
  [
    'a soft threshold beside a hard one is sorted after it',
    'evictionSoft: {memory.available: 5%}\nevictionSoftGracePeriod: {memory.available: 30s}',
    {},
    [DEFAULTS[0] ?? '', 'soft memory.available<5%', ...DEFAULTS.slice(1)],
  ],
  [
    'a soft threshold with a grace period of zero is hard',
    'evictionSoft: {pid.available: 5%}\nevictionSoftGracePeriod: {pid.available: 0s}',
    {},
    [...DEFAULTS, 'hard pid.available<5%'],
  ],
  [
    'the same threshold twice is one threshold',
    'evictionSoft: {memory.available: 100Mi}\nevictionSoftGracePeriod: {memory.available: 0s}',
    {},
    DEFAULTS,
  ],
  [
    'soft in the file, its grace period as a flag',
    'evictionSoft: {pid.available: 5%}',
    { evictionSoftGracePeriod: ['pid.available=1m'] },
    [...DEFAULTS, 'soft pid.available<5%'],
  ],
  ['a soft threshold that is switched off needs no grace period', 'evictionSoft: {pid.available: 0%}', {}, DEFAULTS],
  [
    'minimum reclaim',
    'evictionMinimumReclaim: {memory.available: 200Mi, pid.available: 3}',
    {},
    ['hard memory.available<100Mi +200Mi', ...DEFAULTS.slice(1)],
  ],
  [
    'minimum reclaim may exceed 100 % and be zero',
    'evictionMinimumReclaim: {memory.available: 150%, nodefs.available: 0}',
    {},
    ['hard memory.available<100Mi +150%', 'hard nodefs.available<10% +0', DEFAULTS[2] ?? ''],
  ],
  ['a key without a value is absent', 'evictionSoft:\n  # memory.available: 5%\n', {}, DEFAULTS],
])('thresholds of maps: %s', (_rule, yaml, flags, thresholds) => {
  expect(thresholdsOf(load({ 'config.yaml': yaml }, flags))).toEqual(thresholds);
});

test('a key of the map itself overrides a merged key (<<), before or after it', () => {
  const yaml =
    'evictionHard: &hard {memory.available: 1Gi, pid.available: 5}\nevictionMinimumReclaim: {memory.available: 2Gi, <<: *hard}\n';
  expect(thresholdsOf(load({ 'config.yaml': yaml }))).toEqual([
    'hard memory.available<1Gi +2Gi',
    ...DEFAULTS.slice(1),
    'hard pid.available<5 +5',
  ]);
});

test('drop-ins are merged by name: maps add up, scalars are replaced, lists are appended', () => {
  const loaded = load({
    'config.yaml':
      'evictionHard: {memory.available: 1Gi}\nmonitoringInterval: 1s\nworkloads: [{cgroup: /a}]\nrules: [{match: {name: a}, priority: 1}]\nlog: {level: warn}\n',
    'config.d/20.yaml': 'monitoringInterval: 3s\nworkloads: [{cgroup: /c}, {cgroup: /a/}]\nlog: {format: json}\n',
    'config.d/10.yaml':
      'monitoringInterval: 2s\nevictionHard: {pid.available: 1k, memory.available: 2Gi}\nworkloads: [{cgroup: /b}]\nrules: [{match: {path: /x}, critical: true}]\n',
    'config.d/readme.txt': 'nothing',
    'config.d/.30.yaml': 'monitoringInterval: 4s\n',
  });
  expect(loaded.config.monitoringIntervalNs).toBe(3_000_000_000n);
  expect(loaded.config.workloads).toEqual([{ cgroup: '/a' }, { cgroup: '/b' }, { cgroup: '/c' }]);
  expect(loaded.config.rules).toEqual([
    { match: { name: 'a' }, priority: 1 },
    { match: { path: '/x' }, critical: true },
  ]);
  expect(loaded.config.log).toEqual({ format: 'json', level: 'warn' });
  expect(thresholdsOf(loaded)).toEqual(['hard memory.available<2Gi', ...DEFAULTS.slice(1), 'hard pid.available<1k']);
});

test('drop-ins are read without a main file, and NAME.d belongs to NAME.yaml', () => {
  const files = { 'config.yaml': '', 'config.d/1.yaml': 'log: {level: debug}\n', 'other.d/1.yaml': 'log: {level: error}\n' };
  expect(load(files).config.log.level).toBe('debug');
});

test('every flag overrides the file', () => {
  const flags = {
    evictionMaxPodGracePeriod: '0',
    evictionPressureTransitionPeriod: '0s',
    nodeCgroup: '/guarded/',
    workloadCgroup: ['/x', '//y/.'],
    monitoringInterval: '5s',
    metricsListen: '[::1]:0',
    stateDirectory: '/s',
    runtimeDirectory: '/r',
    logFormat: 'systemd',
    logLevel: 'error',
  };
  const { config, origins } = load(
    { 'config.yaml': 'workloads: [{cgroup: /a}]\nevictionMaxPodGracePeriod: 5\nlog: {level: warn}\nnode: {cgroup: /}\n' },
    flags,
  );
  expect(config).toMatchObject({
    maxPodGracePeriodNs: 0n,
    pressureTransitionPeriodNs: 0n,
    node: { cgroup: '/guarded' },
    workloads: [{ cgroup: '/x' }, { cgroup: '/y' }],
    monitoringIntervalNs: 5_000_000_000n,
    metrics: { host: '::1', port: 0 },
    stateDirectory: '/s',
    runtimeDirectory: '/r',
    log: { format: 'systemd', level: 'error' },
  });
  expect(origins.get('workloads[1].cgroup')).toEqual({
    value: '//y/.',
    origin: { kind: 'set', position: { file: '--workload-cgroup', column: 1 } },
  });
});

test.each<[rule: string, yaml: string, expected: object]>([
  ['metrics off', 'metrics: {listen: off}\n', { metrics: undefined }],
  [
    'a token',
    'metrics: {tokenFile: /etc/evictd/token}\n',
    { metrics: { host: '127.0.0.1', port: 9796 }, metricsTokenFile: '/etc/evictd/token' },
  ],
  ['the group of the control socket, by id', 'controlSocket: {group: 4711}\n', { controlSocket: { group: '4711' } }],
  ['a host name', "metrics: {listen: 'localhost:80'}\n", { metrics: { host: 'localhost', port: 80 } }],
  ['a Unix socket', 'metrics: {listen: unix:/run/evictd/metrics.sock}\n', { metrics: { socket: '/run/evictd/metrics.sock' } }],
  ['a Unix socket as a URL', 'metrics: {listen: unix:///run/m.sock}\n', { metrics: { socket: '/run/m.sock' } }],
  ['the root cgroup is the machine', 'node: {cgroup: /}\n', { node: { cgroup: undefined } }],
  ['requests in bytes, rounded up', 'rules: [{match: {}, requests: {memory: 1.5}}]\n', { rules: [{ match: {}, requestsMemory: 2n }] }],
  [
    'the priority of a class, which may stand in a later file, and never preempts',
    'rules: [{match: {}, priorityClass: low}]\npriorityClasses: [{name: low, value: -5, preemptionPolicy: Never}]\n',
    {
      rules: [{ match: {}, priorityClass: 'low', priority: -5, preemptionPolicy: 'Never' }],
      priorityClasses: [{ name: 'low', value: -5, preemptionPolicy: 'Never' }],
    },
  ],
  [
    'a class of the system, which makes critical',
    'rules: [{match: {}, priorityClass: system-cluster-critical}]\n',
    {
      rules: [
        {
          match: {},
          priorityClass: 'system-cluster-critical',
          priority: 2_000_000_000,
          preemptionPolicy: 'PreemptLowerPriority',
          critical: true,
        },
      ],
    },
  ],
  [
    'a rule of every key',
    'rules: [{match: {name: a, path: /b}, critical: false, priority: -10, requests: {memory: 1Ki}, terminationGracePeriodSeconds: 0}]\n',
    { rules: [{ match: { name: 'a', path: '/b' }, critical: false, priority: -10, requestsMemory: 1024n, terminationGracePeriodNs: 0n }] },
  ],
  [
    'anchors, merge keys: own keys win',
    'log: &l {level: warn, format: json}\nrules: []\nmetrics: {listen: &a "[::1]:1"}\nevictionHard: &h {memory.available: 1Gi}\nevictionMinimumReclaim: {<<: *h, pid.available: 3}\n',
    { metrics: { host: '::1', port: 1 }, log: { level: 'warn' } },
  ],
  ['JSON is YAML', '{"log": {"level": "debug"}}', { log: { level: 'debug' } }],
  ['a document start', '%YAML 1.2\n---\nlog: {level: debug}\n...\n', { log: { level: 'debug' } }],
  ['only comments', '# nothing\n', { log: { level: 'info' } }],
])('YAML is read with %s', (_rule, yaml, expected) => {
  expect(load({ 'config.yaml': yaml }).config).toMatchObject(expected);
});

test('origins have the file, line and column of each value, and mark defaults', () => {
  const { origins } = load(
    { 'config.yaml': 'evictionHard:\n  memory.available: 1Gi\nrules:\n  - match: {name: a}\n    critical: true\n' },
    { logLevel: 'warn' },
  );
  const shown = (key: string): string => {
    const entry = origins.get(key);
    const at = entry?.origin.kind === 'set' ? formatPosition(entry.origin.position).replace(/^\/.*\//, '') : entry?.origin.kind;
    return `${JSON.stringify(entry?.value)} ${at ?? ''}`;
  };
  expect(
    [
      'evictionHard.memory.available',
      'evictionHard.nodefs.available',
      'rules[0].match.name',
      'rules[0].critical',
      'log.level',
      'node.cgroup',
    ].map(shown),
  ).toEqual([
    '"1Gi" config.yaml:2:21',
    '"10%" default',
    '"a" config.yaml:4:19',
    'true config.yaml:5:15',
    '"warn" --log-level:1',
    'null default',
  ]);
});

test.each<[rule: string, yaml: string, flags: ConfigFlags, notice: string | undefined]>([
  [
    'a kept default',
    'evictionHard: {memory.available: 1Gi}',
    {},
    'info DEFAULTS_KEPT evictionHard keeps the defaults of signals that it does not set (nodefs.available, nodefs.inodesFree); in effect: memory.available<1Gi, nodefs.available<10%, nodefs.inodesFree<5%',
  ],
  [
    'a kept default beside a flag',
    '',
    { evictionHard: ['memory.available<0%'] },
    'info DEFAULTS_KEPT evictionHard keeps the defaults of signals that it does not set (nodefs.available, nodefs.inodesFree); in effect: nodefs.available<10%, nodefs.inodesFree<5%',
  ],
  [
    'an empty map keeps them all',
    'evictionHard: {}',
    {},
    'info DEFAULTS_KEPT evictionHard keeps the defaults of signals that it does not set (memory.available, nodefs.available, nodefs.inodesFree); in effect: memory.available<100Mi, nodefs.available<10%, nodefs.inodesFree<5%',
  ],
  [
    'an empty flag keeps them all',
    '',
    { evictionHard: [''] },
    'info DEFAULTS_KEPT evictionHard keeps the defaults of signals that it does not set (memory.available, nodefs.available, nodefs.inodesFree); in effect: memory.available<100Mi, nodefs.available<10%, nodefs.inodesFree<5%',
  ],
  [
    'without a kept default there is no hint',
    'evictionHard: {memory.available: 1Gi, nodefs.available: 0%, nodefs.inodesFree: 0%}',
    {},
    undefined,
  ],
  [
    'a transition period of zero in a file',
    'evictionPressureTransitionPeriod: 0s',
    {},
    'warn TRANSITION_PERIOD evictionPressureTransitionPeriod: 0s is read as unset, as in the kubelet',
  ],
  [
    'the container filesystem has no thresholds of its own',
    '',
    { evictionSoft: ['containerfs.available<15%'] },
    'warn CONTAINERFS evictionSoft: ignored: containerfs.available: containers are on nodefs or imagefs, whose thresholds apply',
  ],
  [
    'the root as a workload source',
    'workloads: [{cgroup: /}]',
    {},
    'warn WORKLOADS_ROOT workloads: / makes every top-level cgroup a workload',
  ],
  ['a source named twice', 'workloads: [{cgroup: /a}, {cgroup: /a/}]', {}, 'warn WORKLOADS_TWICE workloads: /a is named twice'],
  ['a rule without effect', 'rules: [{match: {name: a}}]', {}, 'warn RULE_EMPTY rules[0] has no effect: it only has match'],
])('a notice of a configuration: %s', (_rule, yaml, flags, notice) => {
  const { notices } = load({ 'config.yaml': yaml }, flags);
  expect(notices.map(({ level, code, message }) => `${level} ${code.replace('EVICTD_CONFIG_', '')} ${message}`)).toEqual(
    notice === undefined ? [] : [notice],
  );
});

test('a drop-in with another suffix is ignored with a warning', () => {
  const { config, notices } = load({ 'config.yaml': '', 'config.d/10.yml': 'log: {level: debug}\n' });
  expect(config.log.level).toBe('info');
  expect(notices).toMatchObject([{ level: 'warn', code: 'EVICTD_CONFIG_DROPIN_NAME' }]);
});

const SIGNAL_HINT = 'a signal: indent it below evictionHard (or evictionSoft, evictionSoftGracePeriod, evictionMinimumReclaim)';
const KUBELET = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';

test('a KubeletConfiguration is read for its eviction fields; the rest is named in one notice', () => {
  const loaded = load({
    'config.yaml': `${KUBELET}maxPods: 110\nauthentication: {anonymous: {enabled: false}}\nevictionHard: {memory.available: 200Mi, imagefs.available: 15%, containerfs.available: 1Gi}\nevictionMaxPodGracePeriod: 60\nworkloads: 3\n`,
    'config.d/1.yaml': 'workloads: [{cgroup: /a}]\n',
  });
  expect(thresholdsOf(loaded)).toEqual(['hard imagefs.available<15%', 'hard memory.available<200Mi', ...DEFAULTS.slice(1)]);
  expect(loaded.config).toMatchObject({ maxPodGracePeriodNs: 60_000_000_000n, workloads: [{ cgroup: '/a' }] });
  expect(loaded.notices).toMatchObject([
    { level: 'warn', code: 'EVICTD_CONFIG_KEYS_UNUSED', message: 'not used by evictd: workloads' },
    { level: 'info', code: 'EVICTD_CONFIG_KEYS_UNUSED', message: 'not used by evictd: authentication, maxPods' },
    { level: 'warn', code: 'EVICTD_CONFIG_CONTAINERFS', position: { line: 5, column: 65 } },
    { level: 'info', code: 'EVICTD_CONFIG_DEFAULTS_KEPT' },
  ]);
});

test.each<[rule: string, line: string, level: string, hint: string | undefined]>([
  ['a key in the wrong case', 'evictionhard: {}', 'warn', 'did you mean evictionHard?'],
  ['a letter too many', 'enforceNodeAllocateable: []', 'warn', 'did you mean enforceNodeAllocatable?'],
  ['a part left out', 'evictionMinReclaim: {}', 'warn', 'did you mean evictionMinimumReclaim?'],
  ['a key of evictd', 'compatibility: kubelet', 'warn', 'move it to an EvictdConfiguration (a drop-in)'],
  ['evictd’s oomScoreAdj', 'oomScoreAdj: qos', 'warn', 'move it to an EvictdConfiguration (a drop-in)'],
  ['the kubelet’s oomScoreAdj', 'oomScoreAdj: -999', 'info', undefined],
  ['a key of the kubelet', 'maxPods: 110', 'info', undefined],
  ['a signal beside its map', 'nodefs.available: 25%', 'warn', SIGNAL_HINT],
  ['a signal, nearly', 'nodefs.inodesfree: 25%', 'warn', SIGNAL_HINT],
  [
    'a signal of pressure',
    'memory.pressure.full: 40%',
    'warn',
    "a signal: write thresholds: [{when: 'memory.pressure.full>40%', kind: soft, for: 10s}]",
  ],
])('in a KubeletConfiguration, %s', (_rule, line, level, hint) => {
  const { notices } = load({ 'config.yaml': `${KUBELET}${line}\n` });
  const at = level === 'warn' ? { line: 3, column: 1 } : {};
  expect(notices).toMatchObject([{ level, code: 'EVICTD_CONFIG_KEYS_UNUSED', position: at }]);
  expect(notices[0]?.hint).toBe(hint);
});

test('a signal in another map of a KubeletConfiguration causes a warning with its position', () => {
  const { notices } = load({ 'config.yaml': `${KUBELET}systemReserved:\n  memory: 1Gi\n  memory.available: 200Mi\n` });
  expect(notices).toMatchObject([
    { level: 'warn', message: 'not used by evictd: systemReserved.memory.available', hint: SIGNAL_HINT, position: { line: 5, column: 3 } },
    { level: 'info', message: 'not used by evictd: systemReserved' },
  ]);
});

test('so does a signal in a list, at any depth', () => {
  const yaml = `${KUBELET}registerWithTaints:\n  - key: a\n    memory.available: 200Mi\nlogging: {options: [[{nodefs.available: 1%}]]}\n`;
  const { notices } = load({ 'config.yaml': yaml });
  expect(notices).toMatchObject([
    { message: 'not used by evictd: registerWithTaints[0].memory.available', hint: SIGNAL_HINT, position: { line: 5, column: 5 } },
    { message: 'not used by evictd: logging.options[0][0].nodefs.available', hint: SIGNAL_HINT, position: { line: 6, column: 23 } },
    { level: 'info', message: 'not used by evictd: logging, registerWithTaints' },
  ]);
});

test.each<[word: string, keeps: boolean | undefined]>([
  ['yes', true],
  ['On', true],
  ['y', true],
  ['NO', false],
  ['off', false],
  ['n', false],
  ['true', true],
  ['maybe', undefined],
])('in a KubeletConfiguration a boolean may be one of YAML 1.1: %s', (word, keeps) => {
  const files = { 'config.yaml': `${KUBELET}mergeDefaultEvictionSettings: ${word}\nevictionHard: {memory.available: 200Mi}\n` };
  if (keeps === undefined) {
    expect(errorOf(() => load(files)).issues).toMatchObject([
      { message: 'mergeDefaultEvictionSettings: expected true or false, got "maybe"' },
    ]);
  } else {
    expect(thresholdsOf(load(files))).toEqual(['hard memory.available<200Mi', ...(keeps ? DEFAULTS.slice(1) : [])]);
  }
  const own = { 'config.yaml': `mergeDefaultEvictionSettings: ${word}\n` };
  if (word !== 'true') expect(errorOf(() => load(own)).issues).toMatchObject([{ code: 'EVICTD_CONFIG_TYPE' }]);
});

test('a key that stands twice in a field of a kubelet that evictd does not read is a warning, in any other an error', () => {
  const { notices } = load({ 'config.yaml': `${KUBELET}maxPods: 10\nmaxPods: 20\nlogging: {v: 1, v: 2}\n` });
  expect(notices.filter(({ code }) => code === 'EVICTD_CONFIG_DUPLICATE_KEY')).toMatchObject([
    { level: 'warn', message: 'duplicate key maxPods, first at 3:1', position: { line: 4, column: 1 } },
    { level: 'warn', message: 'duplicate key logging.v, first at 5:11' },
  ]);
  for (const yaml of [
    `${KUBELET}evictionHard: {}\nevictionHard: {}\n`,
    `${KUBELET}evictionHard: {memory.available: 1Gi, memory.available: 2Gi}\n`,
    `${KUBELET}${KUBELET}`,
    'log: {}\nlog: {}\n',
  ]) {
    expect(errorOf(() => load({ 'config.yaml': yaml })).issues[0]?.code).toBe('EVICTD_CONFIG_DUPLICATE_KEY');
  }
});

test.each(['---', '---\n# the end', '---\n...\n---'])('an empty document at the end is not a second one: %j', (end) => {
  expect(load({ 'config.yaml': `---\nlog: {level: warn}\n${end}\n` }).config.log.level).toBe('warn');
});

test("a signal at a wrong place of evictd's configuration is an error with the same hint", () => {
  expect(errorOf(() => load({ 'config.yaml': 'nodefs.available: 25%\n' })).issues).toMatchObject([
    { code: 'EVICTD_CONFIG_UNKNOWN_KEY', hint: SIGNAL_HINT },
  ]);
});

/** Fields of a KubeletConfiguration that evictd does not read: none is taken for a misspelt one that it does. */
const OTHER_FIELDS = `
  enableServer staticPodPath podLogsDir syncFrequency fileCheckFrequency httpCheckFrequency staticPodURL staticPodURLHeader address port
  readOnlyPort tlsCertFile tlsPrivateKeyFile tlsCipherSuites tlsMinVersion rotateCertificates serverTLSBootstrap authentication
  authorization registryPullQPS registryBurst imagePullCredentialsVerificationPolicy preloadedImagesVerificationAllowlist eventRecordQPS
  eventBurst enableDebuggingHandlers enableContentionProfiling healthzPort healthzBindAddress oomScoreAdj clusterDomain clusterDNS
  streamingConnectionIdleTimeout nodeStatusUpdateFrequency nodeStatusReportFrequency nodeLeaseDurationSeconds imageMinimumGCAge
  imageMaximumGCAge imageGCHighThresholdPercent imageGCLowThresholdPercent volumeStatsAggPeriod kubeletCgroups systemCgroups cgroupRoot
  cgroupsPerQOS cgroupDriver cpuManagerPolicy singleProcessOOMKill cpuManagerPolicyOptions cpuManagerReconcilePeriod memoryManagerPolicy
  topologyManagerPolicy topologyManagerScope topologyManagerPolicyOptions qosReserved runtimeRequestTimeout hairpinMode maxPods podCIDR
  podPidsLimit resolvConf runOnce cpuCFSQuota cpuCFSQuotaPeriod nodeStatusMaxImages maxOpenFiles contentType kubeAPIQPS kubeAPIBurst
  serializeImagePulls maxParallelImagePulls podsPerCore enableControllerAttachDetach protectKernelDefaults makeIPTablesUtilChains
  iptablesMasqueradeBit iptablesDropBit featureGates failSwapOn memorySwap containerLogMaxSize containerLogMaxFiles
  containerLogMaxWorkers containerLogMonitorInterval configMapAndSecretChangeDetectionStrategy systemReserved kubeReserved
  reservedSystemCPUs showHiddenMetricsForVersion systemReservedCgroup kubeReservedCgroup allowedUnsafeSysctls volumePluginDir providerID
  kernelMemcgNotification logging enableSystemLogHandler enableSystemLogQuery crashLoopBackOff reservedMemory enableProfilingHandler enableDebugFlagsHandler seccompDefault
  memoryThrottlingFactor registerWithTaints registerNode tracing localStorageCapacityIsolation containerRuntimeEndpoint
  imageServiceEndpoint failCgroupV1 userNamespaces
`
  .trim()
  .split(/\s+/);

test('a field that only the kubelet uses is not an error', () => {
  const yaml = `${KUBELET}${OTHER_FIELDS.map((name) => `${name}: 1\n`).join('')}`;
  expect(load({ 'config.yaml': yaml }).notices.map(({ level, code }) => `${level} ${code}`)).toEqual(['info EVICTD_CONFIG_KEYS_UNUSED']);
});

test('the hint says how to switch off a default that was kept', () => {
  const [notice] = load({ 'config.yaml': 'evictionHard: {memory.available: 1Gi}\n' }).notices;
  expect(notice?.hint).toBe('set a signal to 0% to disable it: nodefs.available: 0%');
});

test('the list of files has every file that was read, whether or not it sets a value', () => {
  const { written } = load({ 'config.yaml': '', 'config.d/2.yaml': 'log: {level: warn}\n', 'config.d/1.yaml': '', 'config.d/x.txt': '' });
  expect(written.files.map(({ file }) => file.replace(/^.*\/evictd-test-[^/]*\//, ''))).toEqual([
    'config.yaml',
    'config.d/1.yaml',
    'config.d/2.yaml',
  ]);
  expect(loadConfig({ platform: { os: 'linux' } }).written.files).toEqual([]);
});

test('a value that the kubelet refuses is refused, even where the kubelet ignores it', () => {
  expect(() => load({ 'config.yaml': `${KUBELET}evictionHard: {containerfs.available: 101%}\n` })).toThrow('1 configuration error');
});

test('a filesystem for images has the kubelet’s defaults, and nodefs does not get them a second time', () => {
  const images = 'filesystems: {imagefs: /images}\n';
  expect(thresholdsOf(load({ 'config.yaml': images }))).toEqual(['hard imagefs.available<15%', 'hard imagefs.inodesFree<5%', ...DEFAULTS]);
  expect(thresholdsOf(load({ 'config.yaml': `${images}evictionHard: {imagefs.available: 0%}\n` }))).toEqual([
    'hard imagefs.inodesFree<5%',
    ...DEFAULTS,
  ]);
  const { config, origins } = load({ 'config.yaml': '', 'config.d/1.yaml': images });
  expect(config.filesystems).toEqual({ nodefs: '/', imagefs: '/images', containerfs: undefined });
  expect(origins.get('evictionHard.imagefs.available')?.origin).toEqual({ kind: 'default' });
});
