import { describe, expect, test } from 'vitest';
import { errorOf, issuesOf, load } from '../scratch.js';

test('runtimes and rules by label are read, each runtime once however its socket is written', () => {
  const { config, notices } = load({
    'config.yaml':
      'workloads:\n  - cri: {endpoint: unix:///run/containerd/containerd.sock}\n  - cgroup: /x\n  - cri: {endpoint: /run//containerd/containerd.sock}\n  - cri: {endpoint: unix:/run/crio/crio.sock}\nrules:\n  - match: {labels: {app: web, tier: 1}}\n    critical: true\n',
  });
  expect(config.workloads).toEqual([
    { cri: { endpoint: 'unix:///run/containerd/containerd.sock' } },
    { cgroup: '/x' },
    { cri: { endpoint: 'unix:///run/crio/crio.sock' } },
  ]);
  expect(config.rules).toEqual([{ match: { labels: { app: 'web', tier: '1' } }, critical: true }]);
  expect(
    notices.filter(({ code }) => code === 'EVICTD_CONFIG_WORKLOADS_TWICE').map(({ position }) => [position?.line, position?.column]),
  ).toEqual([[4, 21]]);
});

describe('errors in a runtime source, with position and hint', () => {
  test.each<[rule: string, entry: string, column: number, code: string, hint: string]>([
    ['a relative path', '{cri: {endpoint: run/containerd.sock}}', 22, 'CONFIG_ENDPOINT', 'unix:///run/containerd/containerd.sock'],
    ['TCP', '{cri: {endpoint: "tcp://127.0.0.1:1"}}', 22, 'CONFIG_ENDPOINT', 'unix:///run/containerd/containerd.sock'],
    ['a host in it', '{cri: {endpoint: "unix://run/containerd.sock"}}', 22, 'CONFIG_ENDPOINT', 'unix:///run/containerd/containerd.sock'],
    ['..', '{cri: {endpoint: /run/../x.sock}}', 22, 'CONFIG_ENDPOINT', 'unix:///run/containerd/containerd.sock'],
    ['nothing', '{cri: {endpoint: ""}}', 22, 'CONFIG_ENDPOINT', 'unix:///run/containerd/containerd.sock'],
    ['the endpoint is missing', '{cri: {}}', 11, 'CONFIG_MISSING', 'endpoint: unix:///run/containerd/containerd.sock'],
    ['text instead of a map', '{cri: /run/crio/crio.sock}', 11, 'CONFIG_TYPE', 'write { endpoint: /run/crio/crio.sock }'],
    ['an unknown key', '{cri: {endpont: /a.sock}}', 12, 'CONFIG_UNKNOWN_KEY', 'did you mean endpoint?'],
    ['one entry has two sources', '{cri: {endpoint: /a.sock}, systemd: {units: [a.service]}}', 11, 'CONFIG_VALUE', 'write two entries'],
    ['a cgroup beside it', '{cgroup: /a, cri: {endpoint: /a.sock}}', 23, 'CONFIG_VALUE', 'write two entries'],
    ['a socket as text', 'unix:///run/crio/crio.sock', 5, 'CONFIG_TYPE', 'write { cri: { endpoint: unix:///run/crio/crio.sock } }'],
  ])('%s', (_rule, entry, column, code, hint) => {
    const read = () => load({ 'config.yaml': `workloads:\n  - ${entry}\n` });
    expect(issuesOf(read)).toContain(`config.yaml:2:${String(column)} EVICTD_${code}`);
    expect(
      errorOf(read)
        .issues.map((issue) => issue.hint)
        .join('\n'),
    ).toContain(hint);
  });

  test('labels that are not a map', () => {
    const read = () => load({ 'config.yaml': 'rules:\n  - match: {labels: web}\n' });
    expect(issuesOf(read)).toEqual(['config.yaml:2:21 EVICTD_CONFIG_TYPE']);
    expect(errorOf(read).issues[0]?.hint).toBe('write { app: web }');
  });
});
