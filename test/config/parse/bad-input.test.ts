import { expect, test } from 'vitest';
import { errorOf, issuesOf, load } from '../scratch.js';

/**
 * Each row is one thing wrong, and where it is said to be: line and column of the value, or of the key where the key is
 * wrong.
 */
test.each<[rule: string, yaml: string, at: string, code: string]>([
  ['unknown key', 'monitorInterval: 3s\n', '1:1', 'UNKNOWN_KEY'],
  ['unknown key in a map', 'log:\n  formt: text\n', '2:3', 'UNKNOWN_KEY'],
  ['unknown key in a list', 'rules:\n  - match: {name: a}\n    prio: 3\n', '3:5', 'UNKNOWN_KEY'],
  ['unknown key after the byte order mark', '\uFEFFx: 3\n', '1:1', 'UNKNOWN_KEY'],
  ['unknown key with CRLF', 'log: {level: info}\r\nx: 3\r\n', '2:1', 'UNKNOWN_KEY'],
  ['__proto__ as a key', 'log: {__proto__: {level: info}}\n', '1:7', 'SYNTAX'],
  ['wrong apiVersion', 'apiVersion: evictd.dev/v2\nkind: EvictdConfiguration\n', '1:13', 'KIND'],
  ['wrong kind', 'apiVersion: evictd.dev/v1\nkind: Pod\n', '2:7', 'KIND'],
  ['the kubelet’s kind without its apiVersion', 'kind: KubeletConfiguration\n', '1:7', 'KIND'],
  ['the kubelet’s apiVersion without its kind', 'apiVersion: kubelet.config.k8s.io/v1beta1\n', '1:13', 'KIND'],
  ['evictd’s apiVersion with the kubelet’s kind', 'apiVersion: evictd.dev/v1\nkind: KubeletConfiguration\n', '2:7', 'KIND'],
  ['unknown signal', 'evictionHard: {memory.availabel: 1Gi}\n', '1:16', 'SIGNAL'],
  ['unknown signal of a grace period', 'evictionSoftGracePeriod: {memory: 1s}\n', '1:27', 'SIGNAL'],
  ['unknown compatibility', 'compatibility: kublet\n', '1:16', 'VALUE'],
  ['unknown departure', 'departures: {inode-rankin: false}\n', '1:14', 'UNKNOWN_KEY'],
  ['departure that is neither true nor false', 'departures: {inode-ranking: off}\n', '1:29', 'TYPE'],
  ['departures given as a list', 'departures: [inode-ranking]\n', '1:13', 'TYPE'],
  ['unknown value of enforceNodeAllocatable', 'enforceNodeAllocatable: [pod]\n', '1:26', 'VALUE'],
  ['enforceNodeAllocatable given as text', 'enforceNodeAllocatable: pods\n', '1:25', 'TYPE'],
  ['allocatable without its cgroup', 'allocatable: {capacity: 8Gi}\n', '1:14', 'MISSING'],
  ['allocatable of nothing', 'allocatable: {cgroup: /kubepods, capacity: 0}\n', '1:44', 'RANGE'],
  ['allocatable as a share', 'allocatable: {cgroup: /kubepods, capacity: 80%}\n', '1:44', 'QUANTITY'],
  ['unknown way to mark processes', 'oomScoreAdj: on\n', '1:14', 'VALUE'],
  ['soft threshold without a grace period', 'evictionSoft:\n  memory.available: 1Gi\n', '2:3', 'GRACE_PERIOD'],
  ['negative amount', 'evictionHard:\n  memory.available: -1\n', '2:21', 'THRESHOLD'],
  ['zero amount', 'evictionHard:\n  memory.available: 0\n', '2:21', 'THRESHOLD'],
  ['negative percentage', 'evictionHard: {nodefs.available: -5%}\n', '1:34', 'THRESHOLD'],
  ['a percentage above 100', 'evictionHard: {nodefs.available: 100.1%}\n', '1:34', 'THRESHOLD'],
  ['NaN as a percentage', 'evictionHard: {nodefs.available: NaN%}\n', '1:34', 'THRESHOLD'],
  ['unit that Kubernetes does not know', 'evictionHard: {memory.available: 100MB}\n', '1:34', 'THRESHOLD'],
  ['threshold without a value', 'evictionHard:\n  memory.available:\n', '2:20', 'THRESHOLD'],
  ['threshold that is a list', 'evictionHard: {memory.available: [1Gi]}\n', '1:34', 'TYPE'],
  ['minimum reclaim of 0 %', 'evictionMinimumReclaim: {memory.available: 0%}\n', '1:44', 'THRESHOLD'],
  ['infinite minimum reclaim', 'evictionMinimumReclaim: {memory.available: Inf%}\n', '1:44', 'THRESHOLD'],
  ['negative grace period', 'evictionSoftGracePeriod: {memory.available: -1s}\n', '1:45', 'GRACE_PERIOD'],
  ['grace period without a unit', 'evictionSoftGracePeriod: {memory.available: 30}\n', '1:45', 'GRACE_PERIOD'],
  ['map given as text', 'evictionHard: memory.available<100Mi\n', '1:15', 'TYPE'],
  ['duration without a unit', 'evictionPressureTransitionPeriod: 300\n', '1:35', 'DURATION'],
  ['interval shorter than a tenth of a second', 'monitoringInterval: 99ms\n', '1:21', 'RANGE'],
  ['interval longer than an hour', 'monitoringInterval: 1h1ns\n', '1:21', 'RANGE'],
  ['seconds as text', 'evictionMaxPodGracePeriod: "10"\n', '1:28', 'TYPE'],
  ['negative seconds of a rule', 'rules: [{match: {}, terminationGracePeriodSeconds: -1}]\n', '1:52', 'RANGE'],
  ['seconds beyond 32 bits', 'evictionMaxPodGracePeriod: 2147483648\n', '1:28', 'RANGE'],
  ['number that a float cannot hold', 'evictionMaxPodGracePeriod: 9007199254740993\n', '1:28', 'TYPE'],
  ['cgroup with the mount of the controller', 'node: {cgroup: /sys/fs/cgroup/memory/x}\n', '1:16', 'PATH'],
  ['cgroup with the mount of v2', 'node: {cgroup: /sys/fs/cgroup/x}\n', '1:16', 'PATH'],
  ['relative cgroup', 'workloads:\n  - cgroup: workload.slice\n', '2:13', 'PATH'],
  ['cgroup that climbs', 'workloads:\n  - cgroup: /a/../b\n', '2:13', 'PATH'],
  ['workload source without a cgroup', 'workloads:\n  - {}\n', '2:5', 'MISSING'],
  ['workloads given as a map', 'workloads: {cgroup: /a}\n', '1:12', 'TYPE'],
  ['workload source given as text', 'workloads: [/a]\n', '1:13', 'TYPE'],
  ['rule without match', 'rules:\n  - critical: true\n', '2:5', 'MISSING'],
  ['directory of the system', 'rules: [{match: {}, directories: [{path: /etc/web}]}]\n', '1:42', 'DIRECTORY'],
  ['relative directory', 'rules: [{match: {}, directories: [{path: var/lib/web}]}]\n', '1:42', 'PATH'],
  ['directory that climbs', 'rules: [{match: {}, directories: [{path: /var/lib/web/../db}]}]\n', '1:42', 'PATH'],
  ['directory without a path', 'rules: [{match: {}, directories: [{}]}]\n', '1:35', 'MISSING'],
  ['directory with another key', 'rules: [{match: {}, directories: [{path: /srv/a, onEvict: empty}]}]\n', '1:50', 'UNKNOWN_KEY'],
  [
    'directory of two rules',
    'rules:\n  - {match: {name: a}, directories: [{path: /srv/a}]}\n  - {match: {name: b}, directories: [{path: /srv/a/}]}\n',
    '3:45',
    'DIRECTORY',
  ],
  [
    'directory within that of another rule',
    'rules:\n  - {match: {name: a}, directories: [{path: /srv/a/b}]}\n  - {match: {name: b}, directories: [{path: /srv/a}]}\n',
    '3:45',
    'DIRECTORY',
  ],
  ['taint without an effect', 'taints: [maintenance=yes]\n', '1:10', 'TAINT'],
  ['effect of a taint in lower case', 'taints: ["a:noexecute"]\n', '1:10', 'TAINT'],
  ['malformed key of a taint', 'taints: ["a b:NoExecute"]\n', '1:10', 'TAINT'],
  ['malformed value of a taint', 'taints: ["a=-:NoExecute"]\n', '1:10', 'TAINT'],
  ['two taints with one key and effect', 'taints: ["a=1:NoExecute", "a=2:NoSchedule", "a:NoExecute"]\n', '1:45', 'TAINT'],
  ['taint of a condition', 'taints: ["node.kubernetes.io/disk-pressure:NoSchedule"]\n', '1:10', 'TAINT'],
  ['toleration with another operator', 'rules: [{match: {}, tolerations: [{key: a, operator: In}]}]\n', '1:54', 'TOLERATION'],
  ['tolerationSeconds without NoExecute', 'rules: [{match: {}, tolerations: [{key: a, tolerationSeconds: 30}]}]\n', '1:35', 'TOLERATION'],
  ['hook without a program', 'hooks: {preEvict: []}\n', '1:19', 'MISSING'],
  ['hook without a command', 'hooks: {postEvict: {timeout: 1s}}\n', '1:20', 'MISSING'],
  ['hook as text', 'hooks: {preEvict: /usr/bin/true}\n', '1:19', 'TYPE'],
  ['hook by a name', 'hooks: {preEvict: [true-ish]}\n', '1:19', 'PATH'],
  ['hook with a deadline beyond half a second', 'hooks: {preEvict: {command: [/bin/true], deadline: 501ms}}\n', '1:52', 'RANGE'],
  ['hook with a deadline that nothing waits for', 'hooks: {postEvict: {command: [/bin/true], deadline: 1ms}}\n', '1:43', 'UNKNOWN_KEY'],
  ['hook with a timeout beyond ten minutes', 'hooks: {postEvict: {command: [/bin/true], timeout: 11m}}\n', '1:52', 'RANGE'],
  ['hooks of systemd-oomd as text', 'hooks: {prekill: on}\n', '1:18', 'TYPE'],
  ['unknown hook', 'hooks: {onEvict: [/bin/true]}\n', '1:9', 'UNKNOWN_KEY'],
  ['hooks with the kubelet’s profile', 'compatibility: kubelet\nhooks: {prekill: true}\n', '2:1', 'PROFILE'],
  ['a webhook that is not a URL', 'notifications: {webhook: alerts.example.com}\n', '1:26', 'VALUE'],
  ['webhook of another protocol', 'notifications: {webhook: ftp://example.com/}\n', '1:26', 'VALUE'],
  ['webhook with a password', 'notifications: {webhook: {url: https://a:b@example.com/}}\n', '1:32', 'VALUE'],
  ['webhook without a URL', 'notifications: {webhook: {timeout: 1s}}\n', '1:26', 'MISSING'],
  ['webhook as a list', 'notifications: {webhook: [https://example.com/]}\n', '1:26', 'TYPE'],
  ['a group that does not exist', 'controlSocket: {group: "a b"}\n', '1:24', 'GROUP'],
  ['a relative file of a token', 'metrics: {tokenFile: token}\n', '1:22', 'PATH'],
  ['webhook with a relative key', 'notifications: {webhook: {url: https://a/, secretFile: key}}\n', '1:56', 'PATH'],
  ['webhook that waits for minutes', 'notifications: {webhook: {url: https://a/, timeout: 61s}}\n', '1:53', 'RANGE'],
  ['kind of notification that is neither true nor false', 'notifications: {desktop: on}\n', '1:26', 'TYPE'],
  ['unknown kind of notification', 'notifications: {mail: true}\n', '1:17', 'UNKNOWN_KEY'],
  ['API server without a credential', 'kubernetes: {nodeName: a}\n', '1:13', 'MISSING'],
  ['API server with two', 'kubernetes: {kubeconfig: /a, inCluster: true}\n', '1:13', 'MISSING'],
  ['relative kubeconfig', 'kubernetes: {kubeconfig: a}\n', '1:26', 'PATH'],
  ['name of a node in upper case', 'kubernetes: {inCluster: true, nodeName: Node-1}\n', '1:41', 'VALUE'],
  ['taint that would end all pods', 'kubernetes: {inCluster: true, taint: "a:NoExecute"}\n', '1:38', 'TAINT'],
  ['conditions that a kubelet overwrites', 'kubernetes: {inCluster: true, conditions: kubelet}\n', '1:43', 'VALUE'],
  ['empty pattern', 'rules: [{match: {name: ""}}]\n', '1:24', 'VALUE'],
  ['yes is a text in YAML 1.2', 'rules: [{match: {name: a}, critical: yes}]\n', '1:38', 'TYPE'],
  [
    'unknown priority class',
    'priorityClasses: [{name: hihg, value: 1}]\nrules:\n  - {match: {}, priorityClass: high}\n',
    '3:32',
    'PRIORITY_CLASS',
  ],
  [
    'a priority class of the system that the configuration defines',
    'priorityClasses: [{name: system-x, value: 1}]\n',
    '1:26',
    'PRIORITY_CLASS',
  ],
  ['name of a class in capitals', 'priorityClasses: [{name: High, value: 1}]\n', '1:26', 'PRIORITY_CLASS'],
  ['class as important as the system', 'priorityClasses: [{name: high, value: 1000000001}]\n', '1:39', 'RANGE'],
  ['class that stands twice', 'priorityClasses: [{name: a, value: 1}, {name: a, value: 2}]\n', '1:47', 'PRIORITY_CLASS'],
  ['unknown preemption policy', 'priorityClasses: [{name: a, value: 1, preemptionPolicy: never}]\n', '1:57', 'VALUE'],
  ['priority beside a class', 'rules: [{match: {}, priority: 1, priorityClass: system-node-critical}]\n', '1:49', 'PRIORITY_CLASS'],
  ['priority beyond 32 bits', 'rules: [{match: {name: a}, priority: 2147483648}]\n', '1:38', 'RANGE'],
  ['priority that is not whole', 'rules: [{match: {name: a}, priority: 1.5}]\n', '1:38', 'TYPE'],
  ['a request that is not a quantity', 'rules: [{match: {name: a}, requests: {memory: 1 GB}}]\n', '1:47', 'QUANTITY'],
  ['negative request', 'rules: [{match: {name: a}, requests: {memory: -1}}]\n', '1:47', 'RANGE'],
  ['port without an address', 'metrics: {listen: 9796}\n', '1:19', 'LISTEN'],
  ['a listen address without a host, which would be all addresses', "metrics: {listen: ':9796'}\n", '1:19', 'LISTEN'],
  ['port beyond 65535', "metrics: {listen: '127.0.0.1:65536'}\n", '1:19', 'LISTEN'],
  ['IPv6 without brackets', "metrics: {listen: '::1:9796'}\n", '1:19', 'LISTEN'],
  ['mistyped IPv4 address', "metrics: {listen: '127.0.0.256:80'}\n", '1:19', 'LISTEN'],
  ['a relative Unix socket', 'metrics: {listen: unix:metrics.sock}\n', '1:19', 'LISTEN'],
  ['a directory as a Unix socket', 'metrics: {listen: unix:/run/evictd/}\n', '1:19', 'LISTEN'],
  ['a Unix socket beyond 107 bytes', `metrics: {listen: unix:/${'a'.repeat(107)}}\n`, '1:19', 'LISTEN'],
  ['file of the journal that is too small', 'journal: {maxSize: 65535}\n', '1:20', 'RANGE'],
  ['file of the journal that is too large', 'journal: {maxSize: 1073741825}\n', '1:20', 'RANGE'],
  ['file of the journal as a share', 'journal: {maxSize: 10%}\n', '1:20', 'QUANTITY'],
  ['a journal of one file', 'journal: {maxFiles: 1}\n', '1:21', 'RANGE'],
  ['a journal of too many files', 'journal: {maxFiles: 1001}\n', '1:21', 'RANGE'],
  ['unknown key of the journal', 'journal: {size: 1Mi}\n', '1:11', 'UNKNOWN_KEY'],
  ['relative directory', 'stateDirectory: evictd\n', '1:17', 'PATH'],
  ['unknown log level', 'log: {level: verbose}\n', '1:14', 'VALUE'],
  ['log level that is a number', 'log: {level: 3}\n', '1:14', 'VALUE'],
  ['list instead of a map', '- a\n', '1:1', 'TYPE'],
  ['text instead of a map', 'hello\n', '1:1', 'TYPE'],
  ['tab as indentation', 'log:\n\tlevel: info\n', '2:1', 'SYNTAX'],
  ['two keys on one line', 'log: level: info\n', '1:6', 'SYNTAX'],
  ['key twice', 'monitoringInterval: 1s\nlog: {}\nmonitoringInterval: 2s\n', '3:1', 'DUPLICATE_KEY'],
  ['second document', 'log: {}\n---\nlog: {}\n', '2:1', 'DOCUMENTS'],
  ['alias without its anchor', 'log: *nowhere\n', '1:6', 'SYNTAX'],
  ['tag', 'log: !map2 {}\n', '1:6', 'SYNTAX'],
  ['key that is a list', '[a]: 1\n', '1:1', 'SYNTAX'],
  ['list merged into a map', 'log: {<<: [1]}\n', '1:7', 'SYNTAX'],
])('%s', (_rule, yaml, at, code) => {
  expect(issuesOf(() => load({ 'config.yaml': yaml }))).toEqual([`config.yaml:${at} EVICTD_CONFIG_${code}`]);
});

test.each<[rule: string, yaml: string, code: string]>([
  ['a hundred thousand brackets', `log: ${'['.repeat(100_000)}`, 'SYNTAX'],
  ['ten thousand nested lists in one line', `${'- '.repeat(10_000)}x\n`, 'SYNTAX'],
  ['anchors that stand for a billion values', bomb(9), 'ALIASES'],
  ['an anchor inside itself', 'log: &a [*a]\n', 'ALIASES'],
  ['a map that merges itself', 'log: &a {<<: *a}\n', 'ALIASES'],
  ['a file larger than a configuration can be', `# ${'x'.repeat(256 * 1024)}\n`, 'FILE_SIZE'],
])('%s is refused without being followed', (_rule, yaml, code) => {
  expect(errorOf(() => load({ 'config.yaml': yaml })).issues.map((issue) => issue.code)).toContain(`EVICTD_CONFIG_${code}`);
});

function bomb(levels: number): string {
  const lines = Array.from(
    { length: levels },
    (_, level) =>
      `a${String(level)}: &a${String(level)} [${
        level === 0
          ? 'x'
          : Array(10)
              .fill(`*a${String(level - 1)}`)
              .join(', ')
      }]`,
  );
  return `${lines.join('\n')}\n`;
}

test('all problems of every file and of the flags are reported at once, each file from top to bottom', () => {
  const files = {
    'config.yaml': 'evictionSoft: {memory.available: 5%}\nevictionHard: {memory.available: -1, bogus: 1}\nlog: {level: loud}\n',
    'config.d/10.yaml': 'rules: [{}]\n',
    'config.d/20.yaml': 'a: b: c\n',
  };
  expect(issuesOf(() => load(files, { evictionHard: ['nodefs.available<10%,memory.available<150%'], logLevel: 'x' }))).toEqual([
    'config.yaml:2:34 EVICTD_CONFIG_THRESHOLD',
    'config.yaml:2:38 EVICTD_CONFIG_SIGNAL',
    'config.yaml:3:14 EVICTD_CONFIG_VALUE',
    'config.d/10.yaml:1:9 EVICTD_CONFIG_MISSING',
    'config.d/20.yaml:1:4 EVICTD_CONFIG_SYNTAX',
    '--log-level:1 EVICTD_CONFIG_VALUE',
    '--eviction-hard:39 EVICTD_CONFIG_THRESHOLD',
  ]);
});

test.each<[rule: string, yaml: string, issues: string[]]>([
  [
    'a duplicate key',
    'log: {level: wran}\nmonitoringInterval: 1\nmonitoringInterval: 2s\nx: 1\n',
    ['1:14 EVICTD_CONFIG_VALUE', '3:1 EVICTD_CONFIG_DUPLICATE_KEY', '4:1 EVICTD_CONFIG_UNKNOWN_KEY'],
  ],
  [
    'a duplicate map: in both of them',
    'log: {level: wran}\nlog: {format: jsn}\n',
    ['1:14 EVICTD_CONFIG_VALUE', '2:1 EVICTD_CONFIG_DUPLICATE_KEY', '2:15 EVICTD_CONFIG_VALUE'],
  ],
  [
    'a key three times',
    'x: 1\nx: 1\nx: 1\n',
    ['2:1 EVICTD_CONFIG_DUPLICATE_KEY', '3:1 EVICTD_CONFIG_DUPLICATE_KEY', '3:1 EVICTD_CONFIG_UNKNOWN_KEY'],
  ],
  [
    'a key that is read through an alias is reported once',
    'evictionSoft: &a {memory.available: 5%, memory.available: 6%}\nevictionHard: *a\nevictionSoftGracePeriod: {memory.available: 1s}\n',
    ['1:41 EVICTD_CONFIG_DUPLICATE_KEY'],
  ],
  [
    'a kind that is nearly right',
    'apiVersion: evictd.dev/v1\nkind: EvictdConfigration\nlog: {level: wran}\n',
    ['2:7 EVICTD_CONFIG_KIND', '3:14 EVICTD_CONFIG_VALUE'],
  ],
  [
    'an unknown apiVersion',
    'apiVersion: evictd.dev/v2\nkind: EvictdConfiguration\nx: 1\n',
    ['1:13 EVICTD_CONFIG_KIND', '3:1 EVICTD_CONFIG_UNKNOWN_KEY'],
  ],
  [
    'the value of a signal that does not exist',
    'evictionHard: {memory.availble: 200MB, nodefs.availble: 1Gi}\nevictionSoftGracePeriod: {memory.availble: 30}\n',
    [
      '1:16 EVICTD_CONFIG_SIGNAL',
      '1:33 EVICTD_CONFIG_THRESHOLD',
      '1:40 EVICTD_CONFIG_SIGNAL',
      '2:27 EVICTD_CONFIG_SIGNAL',
      '2:44 EVICTD_CONFIG_GRACE_PERIOD',
    ],
  ],
  ['a file of another program is not read further', 'apiVersion: v1\nkind: Pod\nspec: {}\n', ['1:13 EVICTD_CONFIG_KIND']],
])('the other keys are still checked: %s', (_rule, yaml, issues) => {
  expect(issuesOf(() => load({ 'config.yaml': yaml }))).toEqual(issues.map((issue) => `config.yaml:${issue}`));
});

test.each<[rule: string, yaml: string]>([
  ['brackets', `log: ${'['.repeat(33)}${']'.repeat(33)}\n`],
  ['lists in one line', `${'- '.repeat(34)}x\n`],
])('deep nesting is refused before it is parsed: %s', (_rule, yaml) => {
  expect(errorOf(() => load({ 'config.yaml': yaml })).issues.map(({ message }) => message)).toEqual(['nested deeper than 32 levels']);
});

test('every error of the YAML parser is reported', () => {
  expect(issuesOf(() => load({ 'config.yaml': 'a: [1,\nb: }\n' })).length).toBeGreaterThan(1);
});

test.each<[rule: string, yaml: string, message: string, hint: string]>([
  ['a hook as text', 'hooks: {preEvict: /bin/true}\n', 'hooks.preEvict: expected a map', 'write a list: [/usr/local/bin/save-heap, --all]'],
  [
    'a hook of a policy as text',
    'policies: [{name: a, when: swap.available < 10%, then: [kill], hooks: {postEvict: /bin/true}}]\n',
    'policies[0].hooks.postEvict: expected a map',
    'write a list: [/usr/local/bin/save-heap, --all]',
  ],
  [
    'hooks of a policy as a list',
    'policies: [{name: a, when: swap.available < 10%, then: [kill], hooks: [/bin/true]}]\n',
    'policies[0].hooks: expected a map',
    'write {preEvict: [/usr/local/bin/save-heap, --all]}',
  ],
  [
    'hooks of a policy that evicts nothing',
    'policies: [{name: a, when: swap.available < 10%, then: [notify], hooks: {postEvict: [/bin/true]}}]\n',
    'policies[0].hooks: no step of this policy evicts',
    'add stop or kill',
  ],
  [
    'a hook of a policy that only all evictions have',
    'policies: [{name: a, when: swap.available < 10%, then: [kill], hooks: {prekill: true}}]\n',
    'unknown key policies[0].hooks.prekill',
    '',
  ],
  ['a hook of nothing', 'hooks: {postEvict: []}\n', 'hooks.postEvict.command: is missing', 'command: [/usr/local/bin/save-heap'],
  [
    'the value that was seen, and what was probably meant',
    'log: {level: wran}\n',
    'log.level: "wran" is not one of debug, info, warn, error',
    'did you mean warn?',
  ],
  ['a key that is nearly right', 'evictionhard: {}\n', 'unknown key evictionhard', 'did you mean evictionHard?'],
  ['a key that is near to nothing', 'metrics: {address: x}\n', 'unknown key metrics.address', 'accepted: listen'],
  [
    'a key where none is',
    'policies: [{name: a, when: swap.available exists, then: [notify: {x: 1}]}]\n',
    'unknown key policies[0].then[0].notify.x',
    'remove it: there is no key here',
  ],
  ['the kubelet’s words', 'evictionHard: {memory.available: 150%}\n', 'must be <= 100%: 150%', '0% disables the threshold'],
  ['the path below the mount', 'node: {cgroup: /sys/fs/cgroup/memory/a/b}\n', '/sys/fs/cgroup/memory/a/b', 'write the path below it: /a/b'],
  ['a key twice, and where it stood first', 'log:\n  level: info\n  level: warn\n', 'duplicate key log.level, first at 2:3', 'remove one'],
  [
    'a kind that is nearly right',
    'apiVersion: evictd.dev/v1\nkind: EvictdConfig\n',
    'kind "EvictdConfig"',
    'did you mean EvictdConfiguration?',
  ],
  ['an apiVersion that is nearly right', 'apiVersion: evictd.dev/v2\nkind: EvictdConfiguration\n', 'v2', 'did you mean evictd.dev/v1?'],
  [
    'the kubelet’s kind, nearly right',
    'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfig\n',
    'kind "KubeletConfig"',
    'did you mean KubeletConfiguration?',
  ],
  ['a kind that is near to nothing', 'apiVersion: evictd.dev/v1\nkind: Pod\n', 'kind "Pod"', 'with kind: EvictdConfiguration, or'],
  ['powers of 1000 or of 1024', 'evictionHard: {memory.available: 100MB}\n', '"100MB"', 'did you mean 100M or 100Mi?'],
  ['powers of 1024', 'evictionMinimumReclaim: {memory.available: 64MiB}\n', '"64MiB"', 'did you mean 64Mi?'],
  ['an amount in the wrong case', 'evictionHard: {memory.available: 1.5 gb}\n', '"1.5 gb"', 'did you mean 1.5G or 1.5Gi?'],
  ['kilo is a small k', 'rules: [{match: {}, requests: {memory: 8KB}}]\n', '"8KB"', 'did you mean 8k or 8Ki?'],
  [
    'a priority class that is nearly right',
    'priorityClasses: [{name: high, value: 1}]\nrules: [{match: {}, priorityClass: hgih}]\n',
    'there is no priority class hgih',
    'did you mean high?',
  ],
  [
    'a priority class of the system',
    'rules: [{match: {}, priorityClass: system-node-critcal}]\n',
    'system-node-critcal',
    'did you mean system-node-critical?',
  ],
  ['bytes', 'rules: [{match: {}, requests: {memory: 100B}}]\n', '"100B"', 'did you mean 100?'],
  ['text that is not an amount', 'evictionHard: {memory.available: much}\n', '"much"', 'write an amount (100Mi'],
  ['an amount that is not positive', 'evictionHard: {memory.available: "0"}\n', 'must be positive', 'write an amount (100Mi'],
  [
    'a rule without match',
    'rules: [{critical: true}]\n',
    'rules[0].match: is missing',
    'match: { name: PATTERN }, or match: {} for everything',
  ],
  ['a source without its cgroup', 'workloads: [{}]\n', 'workloads[0].cgroup: is missing', 'cgroup: /workload.slice'],
  [
    'a source that is a path',
    'workloads: [/web.slice]\n',
    'workloads[0]: expected a map, got "/web.slice"',
    'write { cgroup: /web.slice }',
  ],
  [
    'a threshold that is a text',
    "thresholds: ['memory.available<5%']\n",
    'thresholds[0]: expected a map, got "memory.available<5%"',
    "write { when: 'memory.available<5%', kind: hard }, or kind: soft and for: 10s",
  ],
  [
    'a threshold without its condition',
    'thresholds: [{kind: hard}]\n',
    'thresholds[0].when: is missing',
    "when: 'memory.pressure.full>40% & memory.available<10%'",
  ],
  ['a NUL in an argument of a hook', 'hooks: {preEvict: ["/bin/true", "a\\0b"]}\n', 'has a NUL character', 'remove it'],
  [
    'a NUL in an argument of a policy',
    'policies: [{name: a, when: swap.available < 10%, then: [{run: ["/bin/true", "a\\0b"]}]}]\n',
    'has a NUL character',
    'remove it',
  ],
  [
    'a policy with the name of a unit policy',
    'policies: [{name: managed-oom-swap, when: swap.available < 10%, then: [notify]}]\n',
    'names with managed-oom-',
    'choose another name',
  ],
  [
    'a policy with the name of a memory-node policy',
    'policies: [{name: memory-node-0, when: swap.available < 10%, then: [notify]}]\n',
    'names with memory-node-',
    'choose another name',
  ],
  ['a relative cgroup', 'node: {cgroup: newuser-node}\n', 'not an absolute path: "newuser-node"', 'an absolute path: /newuser-node'],
  ['a relative cgroup with the mount', 'node: {cgroup: sys/fs/cgroup/memory/a/}\n', 'not an absolute path', 'an absolute path: /a'],
  ['an empty cgroup', 'node: {cgroup: ""}\n', 'not an absolute path: ""', 'an absolute path: /workload.slice'],
  [
    'a departure that is nearly right',
    'departures: {inode-rankin: false}\n',
    'unknown key departures.inode-rankin',
    'did you mean inode-ranking?',
  ],
  ['a compatibility that is nearly right', 'compatibility: kublet\n', '"kublet" is not one of evictd, kubelet', 'did you mean kubelet?'],
  ['a text that has keys', 'workloads: [{cgroup: {path: /a}}]\n', 'cgroup: expected a text, got a map', 'no key or item below it'],
  ['a value that is not text', 'stateDirectory: true\n', 'expected a text, got true', 'put it in quotes'],
  ['a threshold without its kind', 'thresholds: [{when: pid.available<9}]\n', 'kind: is missing: one of hard, soft', 'kind: hard, or'],
  ['allocatable without its cgroup', 'allocatable: {capacity: 8Gi}\n', 'allocatable.cgroup: is missing', 'cgroup: /'],
  ['a space in a percentage', 'evictionHard: {nodefs.available: 10 %}\n', '"10 %"', 'remove the space: 10%'],
  ['a space behind a percentage', 'evictionMinimumReclaim: {nodefs.available: "5% "}\n', '"5% "', 'remove the space: 5%'],
  ['text that is not a percentage', 'evictionHard: {nodefs.available: x %}\n', '"x %"', 'write an amount (100Mi'],
])('the message and the hint of an error: %s', (_rule, yaml, message, hint) => {
  const [issue] = errorOf(() => load({ 'config.yaml': yaml })).issues;
  expect(issue?.message).toContain(message);
  expect(issue?.hint).toContain(hint);
});
