import { expect, test } from 'vitest';
import type { Config, LoadedConfig } from '../../../src/config/config.js';
import { recordedConfig } from '../../../src/recording/open.js';
import { unrecordedSources, workloadsUnder } from '../../../src/features/replay/recorded-workloads.js';
import type { RuntimePart } from '../../../src/core/workload/pod-sandbox.js';
import type { Workload } from '../../../src/core/workload/workload.js';
import type { SystemdSpec } from '../../../src/workloads/kinds/systemd-source.js';
import { load } from '../../config/scratch.js';
import { candidates, Mi, workload } from '../../core/support.js';

const node = { name: 'machine', cgroup: undefined, cgroupVersion: 2 } as const;
const systemd = (source: Partial<SystemdSpec>) => ({ systemd: { slices: [], units: [], ...source } });
const loaded = (workloads: Config['workloads'], rules: Config['rules'] = []): LoadedConfig => {
  const defaults = load({ 'config.yaml': '' });
  return { ...defaults, config: { ...defaults.config, workloads, rules } };
};
const config = (...given: Parameters<typeof loaded>): Config => loaded(...given).config;
const recordedWith = (workloads: Config['workloads']) => recordedConfig(loaded(workloads));
const unit = (path: string, overrides: Partial<Workload> = {}) => workload(path.slice(path.lastIndexOf('/') + 1), { path, ...overrides });

test.each<[rule: string, sources: Config['workloads'], recorded: Config['workloads'], unknown: string[]]>([
  ['the same slice', [systemd({ slices: ['a.slice'] })], [systemd({ slices: ['a.slice'] })], []],
  ['a slice of a recorded slice', [systemd({ slices: ['a-b.slice'] })], [systemd({ slices: ['a.slice'] })], []],
  ['a slice that was not recorded', [systemd({ slices: ['b.slice'] })], [systemd({ slices: ['a.slice'] })], ['b.slice']],
  ['the same units', [systemd({ units: ['a.service'] })], [systemd({ units: ['a.service'] })], []],
  ['other units', [systemd({ units: ['b.service'] })], [systemd({ slices: ['a.slice'] }), { cgroup: '/x' }], ['b.service']],
  ['units of a machine that was recorded whole', [systemd({ units: ['b.service'] })], [systemd({ slices: ['-.slice'] })], []],
  ['a cgroup beside', [{ cgroup: '/x' }, { cgroup: '/y' }], [{ cgroup: '/x' }, systemd({ slices: ['y.slice'] })], ['/y']],
  ['the same runtime', [{ cri: { endpoint: 'unix:///r' } }], [{ cri: { endpoint: 'unix:///r' } }], []],
  ['pods of an API server', [{ kubernetes: true }], [{ cri: { endpoint: 'unix:///r' } }], ['pods of the API server']],
  ['another runtime', [{ cri: { endpoint: 'unix:///s' } }], [{ cri: { endpoint: 'unix:///r' } }], ['unix:///s']],
  ['the same programs', [{ process: { path: 'C:\\A\\**' } }, { job: 'b' }], [{ job: 'b' }, { process: { path: 'C:\\A\\**' } }], []],
  ['another job', [{ job: 'c' }], [{ job: 'b' }], ['job c']],
])('sources without recorded workloads: %s', (_rule, sources, recorded, unknown) => {
  expect(unrecordedSources(config(sources), recordedWith(recorded))).toEqual(unknown);
});

test('sources of a kind that this evictd does not know are ignored', () => {
  const recorded = recordedWith([{ cgroup: '/x' }]);
  const newer = { ...recorded, workloads: [...recorded.workloads, { future: 'a.slice' }] };
  expect(unrecordedSources(config([{ cgroup: '/x' }, systemd({ slices: ['a.slice'] })]), newer)).toEqual(['a.slice']);
});

test('recorded units get the sources, rules and protected list of another configuration, and keep ManagedOOMPreference=', () => {
  const { usages } = candidates(
    [unit('/a.slice/a.service', { oomPreference: 'avoid', avoid: true }), Mi],
    [unit('/a.slice/b.service', { oomPreference: 'avoid', avoid: true }), Mi],
    [unit('/a.slice/omit.service', { oomPreference: 'omit' }), Mi],
    [unit('/a.slice/sshd.service'), Mi],
    [unit('/other.slice/c.service'), Mi],
    [unit('/other.slice/chosen.service'), Mi],
  );
  const sources = [systemd({ slices: ['a.slice'], units: ['chosen.service'] })];
  const under = workloadsUnder(config(sources, [{ match: { name: 'b.service' }, priority: 7 }]), recordedWith(sources), node);
  expect(under(usages).map(({ workload: { name, priority, avoid, protection } }) => [name, priority, avoid, protection?.kind])).toEqual([
    ['a.service', 0, true, undefined],
    ['b.service', 7, undefined, undefined],
    ['omit.service', 0, undefined, 'omit'],
    ['sshd.service', 0, undefined, 'unit'],
    ['chosen.service', 0, undefined, undefined],
  ]);
});

test.each<[protection: Workload['protection'], kind: string]>([
  [{ kind: 'self' }, 'self'],
  [{ kind: 'critical', also: { kind: 'self' } }, 'self'],
  [{ kind: 'omit', also: { kind: 'kubelet' } }, 'kubelet'],
  [{ kind: 'critical', also: { kind: 'unreported', what: 'pod' } }, 'unreported'],
])('protection that a recorded rule hid holds where the new configuration has no such rule: %o', (protection, kind) => {
  const { usages } = candidates([unit('/x/w', { protection }), Mi]);
  const [found] = workloadsUnder(config([{ cgroup: '/x' }]), recordedWith([{ cgroup: '/x' }]), node)(usages);
  expect(found?.workload.protection?.kind).toBe(kind);
});

test('recorded pods get the runtimes and rules of another configuration, and keep their priority and grace period', () => {
  const pod = (name: string, part: Partial<RuntimePart> = {}) =>
    workload(name, {
      path: `/k8s.io/${name}`,
      runtime: { endpoint: 'unix:///r', podId: 'p', containers: [], isPod: true, labels: { app: name }, byKubelet: false, ...part },
    });
  const gpu = { key: 'gpu', operator: 'Exists', value: '', effect: '' };
  const { usages } = candidates(
    [{ ...pod('a', { priority: 5, terminationGracePeriodNs: 7n }), tolerations: [gpu] }, Mi],
    [pod('b', { priority: 5 }), Mi],
    [pod('kube', { byKubelet: true }), Mi],
    [pod('other', { endpoint: 'unix:///s' }), Mi],
  );
  const sources = [{ cri: { endpoint: 'unix:///r' } }];
  const under = workloadsUnder(
    config(sources, [{ match: { labels: { app: 'b' } }, priority: 9, tolerations: [gpu] }]),
    recordedWith(sources),
    node,
  );
  const said = under(usages).map(({ workload: { name, priority, terminationGracePeriodNs, protection } }) => {
    return [name, priority, terminationGracePeriodNs, protection?.kind];
  });
  expect(said).toEqual([
    ['a', 5, 7n, undefined],
    ['b', 9, undefined, undefined],
    ['kube', 0, undefined, 'kubelet'],
  ]);
  expect(under(usages).map(({ workload: { tolerations } }) => tolerations)).toEqual([undefined, [gpu], undefined]);
});

test('recorded pods of an API server keep its data, and get the rules of another configuration', () => {
  const of = (name: string, priority: number, overrides: Partial<Workload> = {}) =>
    workload(`shop/${name}`, {
      path: `/kubepods/pod${name}`,
      kubernetes: { uid: name, namespace: 'shop', name, labels: { app: name }, priority, terminationGracePeriodNs: 7n },
      tolerations: [{ key: 'gpu', operator: 'Exists', value: '', effect: '' }],
      ...overrides,
    });
  const { usages } = candidates(
    [of('a', 5), Mi],
    [of('b', 5), Mi],
    [of('cni', 2_000_000_000), Mi],
    [of('etcd', 0, { protection: { kind: 'static' } }), Mi],
    [workload('app', { path: '/kubepods/poda/app', protection: { kind: 'kubelet' } }), Mi],
  );
  const sources = [{ cgroup: '/kubepods/poda' }, { kubernetes: true as const }];
  const under = workloadsUnder(config(sources, [{ match: { labels: { app: 'b' } }, priority: 9 }]), recordedWith(sources), node);
  expect(workloadsUnder(config(sources.slice(0, 1)), recordedWith(sources), node)(usages)).toMatchObject([{ workload: { name: 'app' } }]);
  const said = under(usages).map(({ workload: { name, priority, terminationGracePeriodNs, protection, tolerations } }) => {
    return [name, priority, terminationGracePeriodNs, protection?.kind, tolerations?.length];
  });
  expect(said).toEqual([
    ['shop/a', 5, 7n, undefined, 1],
    ['shop/b', 9, 7n, undefined, 1],
    ['shop/cni', 2_000_000_000, 7n, 'critical', 1],
    ['shop/etcd', 0, 7n, 'static', 1],
    ['app', 0, undefined, 'kubelet', undefined],
  ]);
});

test('recorded Docker containers keep their names, and rules match them by name and by cgroup', () => {
  const scope = `docker-${'a'.repeat(64)}.scope`;
  const { usages } = candidates([workload('web', { path: `/system.slice/${scope}` }), Mi]);
  const sources = [systemd({ slices: ['system.slice'] })];
  const named = (name: string) => workloadsUnder(config(sources, [{ match: { name }, priority: 4 }]), recordedWith(sources), node)(usages);
  expect(named('web').map(({ workload: { name, priority } }) => [name, priority])).toEqual([['web', 4]]);
  expect(named('docker-*').map(({ workload: { name, priority } }) => [name, priority])).toEqual([['web', 4]]);
});

test('recorded Windows workloads get the sources, rules and system processes of another configuration', () => {
  const tree = (pid: number, program: string, overrides: Partial<Workload> = {}): [Workload, bigint] => {
    const name = program.slice(program.lastIndexOf('\\') + 1);
    const path = `${program}#${String(pid)}`;
    return [workload(name, { id: `${String(pid)}:7`, path, program, terminationGracePeriodNs: 0n, ...overrides }), Mi];
  };
  const { usages } = candidates(
    tree(1, 'C:\\A\\web.exe'),
    tree(2, 'C:\\A\\db.exe', { protection: { kind: 'critical' }, priority: 3 }),
    tree(3, 'C:\\A\\lsass.exe', { protection: { kind: 'critical', also: { kind: 'system', why: 'logins need it' } } }),
    tree(4, 'C:\\B\\other.exe'),
    [workload('batch', { id: 'job:batch', path: 'job:batch' }), Mi],
    [workload('print', { id: 'service:5:7:print', path: 'service:print', program: 'C:\\A\\print.exe' }), Mi],
  );
  const windows = [{ process: { path: 'c:/a/**' } }, { job: 'batch' }, { service: 'PR*' }];
  const under = workloadsUnder(config(windows, [{ match: { path: 'C:\\A\\WEB.exe' }, critical: true }]), recordedWith(windows), node);
  expect(under(usages).map(({ workload: { name, priority, protection } }) => [name, priority, protection?.kind])).toEqual([
    ['web.exe', 0, 'critical'],
    ['db.exe', 0, undefined],
    ['lsass.exe', 0, 'system'],
    ['batch', 0, undefined],
    ['print', 0, undefined],
  ]);
});
