import { describe, expect, test } from 'vitest';
import type { Rule } from '../../../../src/core/workload/rule.js';
import type { WorkloadSourceSpec } from '../../../../src/workloads/kinds/source-spec.js';
import type { PresentWorkload } from '../../../../src/config/lint/machine.js';
import { lintRules } from '../../../../src/config/lint/workloads/rules.js';
import { lintTaints } from '../../../../src/config/lint/taints.js';
import { compileRules } from '../../../../src/workloads/workload-rules.js';
import { machine, present, subject } from '../support.js';

/** The codes for these rules, with these names below /workload.slice; undefined: no machine was looked at. */
function lint(rules: readonly Rule[], names: readonly string[] | undefined, sources: readonly string[] = ['/workload.slice']) {
  const effectOf = compileRules(rules);
  const workloads = (names ?? []).map((name): PresentWorkload => {
    const workload = present(name);
    return { ...workload, matched: effectOf(workload).matched };
  });
  const facts = names === undefined ? undefined : machine({ workloads: { present: workloads, sources: [] } });
  return lintRules(subject([], { rules, workloads: sources.map((cgroup) => ({ cgroup })) }), facts);
}

describe('a rule that can never match', () => {
  test.each<[rule: string, rule_: Rule, sources: readonly string[], reported: boolean]>([
    ['a name', { match: { name: 'web' }, priority: 1 }, ['/workload.slice'], false],
    ['a name with a slash', { match: { name: 'a/web' }, priority: 1 }, ['/workload.slice'], true],
    ['a path of a child', { match: { path: '/workload.slice/web' }, priority: 1 }, ['/workload.slice'], false],
    ['the path of the source itself', { match: { path: '/workload.slice' }, priority: 1 }, ['/workload.slice'], true],
    ['a grandchild', { match: { path: '/workload.slice/web/a' }, priority: 1 }, ['/workload.slice'], true],
    ['a path in another tree', { match: { path: '/system.slice/*' }, priority: 1 }, ['/workload.slice'], true],
    ['a path of one of several sources', { match: { path: '/system.slice/*' }, priority: 1 }, ['/workload.slice', '/system.slice'], false],
    ['a source that was written with a slash', { match: { path: '/a/*' }, priority: 1 }, ['/a/'], false],
    ['the root as source', { match: { path: '/web' }, priority: 1 }, ['/'], false],
    ['a path further below, with the root as source', { match: { path: '/web/a' }, priority: 1 }, ['/'], true],
    [
      'a critical cgroup in a workload protects the workload',
      { match: { path: '/workload.slice/web/a' }, critical: true },
      ['/workload.slice'],
      false,
    ],
    [
      'a pattern for a critical cgroup in a workload protects no workload',
      { match: { path: '/workload.slice/web/*' }, critical: true },
      ['/workload.slice'],
      true,
    ],
    [
      'a critical cgroup elsewhere protects no workload',
      { match: { path: '/system.slice/web/a' }, critical: true },
      ['/workload.slice'],
      true,
    ],
    ['everything', { match: {}, priority: 1 }, ['/workload.slice'], false],
    ['there is no workload source', { match: { name: 'a/b' }, priority: 1 }, [], false],
  ])('%s', (_rule, rule, sources, reported) => {
    expect(lint([rule], undefined, sources).map(({ code }) => code)).toEqual(reported ? ['EVICTD_LINT_RULE_UNREACHABLE'] : []);
  });

  test('names of programs, jobs and services of Windows can be nearly any text', () => {
    const rules: readonly Rule[] = [
      { match: { name: 'web.exe' }, critical: true },
      { match: { path: 'C:\\Apps\\**' }, priority: 1 },
    ];
    expect(lintRules(subject([], { rules, workloads: [{ process: { path: 'C:\\Apps\\**' } }] }), undefined)).toEqual([]);
  });

  test('the message names the rule and its match', () => {
    const rules: readonly Rule[] = [
      { match: { name: 'web' }, priority: 1 },
      { match: { name: 'a*', path: '/system.slice/**/x' }, priority: 1 },
    ];
    expect(lint(rules, undefined)).toMatchObject([
      {
        key: 'rules[1]',
        message: 'rules[1] (name: a*, path: /system.slice/**/x) can never match: its path matches no direct child of /workload.slice',
      },
    ]);
  });
});

describe('a rule about units that can never match', () => {
  const batch: readonly WorkloadSourceSpec[] = [{ systemd: { slices: ['batch.slice'], units: [] } }];
  const web: readonly WorkloadSourceSpec[] = [{ systemd: { slices: [], units: ['web@*.service'] } }];
  test.each<[rule: string, match: Rule['match'], sources: readonly WorkloadSourceSpec[], hint: string | undefined]>([
    ['the name of a unit', { name: 'a.service' }, batch, undefined],
    ['a pattern', { name: 'a*' }, batch, undefined],
    ['a pattern for scopes', { name: '*.scope' }, batch, undefined],
    ['the name without its end', { name: 'a' }, batch, 'name: a.service'],
    ['a pattern that leaves no room for a name', { name: 'a-?' }, batch, 'name: a-?.service'],
    ['a socket', { name: 'a.socket' }, batch, 'name: a.service'],
    ['a name with a slash', { name: 'b/a.service' }, batch, 'remove the directories from name'],
    ['a unit that is not named', { name: 'a.service' }, web, 'name: a.service'],
    ['a unit that is named', { name: 'web@1.*' }, web, undefined],
    ['a path below the slice, however deep', { path: '/batch.slice/batch-b.slice/a.service' }, batch, undefined],
    ['a path below another slice', { path: '/other.slice/a.service' }, batch, 'match the unit by its name'],
    ['the path of the slice', { path: '/batch.slice' }, batch, 'match the unit by its name'],
    ['a named unit anywhere', { path: '/x.slice/*' }, web, undefined],
    ['a named unit by another name', { path: '/x.slice/a.service' }, web, 'match the unit by its name'],
    ['a name without an end beside a cgroup, whose children are called anything', { name: 'a' }, [...batch, { cgroup: '/x' }], undefined],
  ])('%s', (_rule, match, workloads, hint) => {
    const found = lintRules(subject([], { rules: [{ match, priority: 1 }], workloads }), undefined);
    expect(found.map(({ code }) => code)).toEqual(hint === undefined ? [] : ['EVICTD_LINT_RULE_UNREACHABLE']);
    if (hint !== undefined) expect(found[0]?.hint).toContain(hint);
  });

  test.each<[name: string, codes: string[]]>([
    ['sshd.service', []],
    ['sshdd.service', ['EVICTD_LINT_LIFT_NOTHING']],
  ])('liftProtection of %s', (name, codes) => {
    const rules = [{ match: { name }, critical: false, liftProtection: true }];
    expect(lintRules(subject([], { rules, workloads: batch }), undefined).map(({ code }) => code)).toEqual(codes);
  });
});

describe('a rule that matches no workload now', () => {
  test.each<[rule: string, rule_: Rule, names: readonly string[] | undefined, reported: boolean]>([
    ['one workload matches', { match: { name: 'web*' }, priority: 1 }, ['web-1', 'db'], false],
    ['no workload matches', { match: { name: 'web*' }, priority: 1 }, ['wbe-1', 'db'], true],
    ['there are no workloads, which another finding reports', { match: { name: 'web*' }, priority: 1 }, [], false],
    ['no machine was read', { match: { name: 'web*' }, priority: 1 }, undefined, false],
    ['a critical cgroup in an existing workload', { match: { path: '/workload.slice/web/a' }, critical: true }, ['web'], false],
    ['a critical cgroup in a workload that does not exist', { match: { path: '/workload.slice/wbe/a' }, critical: true }, ['web'], true],
  ])('%s', (_rule, rule, names, reported) => {
    expect(lint([rule], names).map(({ code }) => code)).toEqual(reported ? ['EVICTD_LINT_RULE_UNMATCHED'] : []);
  });

  test('the finding names some of the workloads', () => {
    expect(lint([{ match: { name: 'web' }, priority: 1 }], ['d', 'b', 'a', 'c'])[0]?.message).toBe(
      'rules[0] (name: web) matches no workload that exists now: a, b, c and 1 more',
    );
  });
});

describe('a rule that cannot undo critical', () => {
  const everything: Rule = { match: { name: '*' }, critical: true };
  const batch: Rule = { match: { name: 'batch-*' }, critical: false };
  test.each<[rule: string, rules: readonly Rule[], names: readonly string[], reported: boolean]>([
    ['a later rule tries to undo critical', [everything, batch], ['batch-1', 'web'], true],
    ['the order does not matter', [batch, everything], ['batch-1', 'web'], true],
    ['no workload matches both rules', [{ match: { name: 'web' }, critical: true }, batch], ['batch-1', 'web'], false],
    ['false alone', [batch], ['batch-1'], false],
  ])('%s', (_rule, rules, names, reported) => {
    expect(lint(rules, names).map(({ code }) => code)).toEqual(reported ? ['EVICTD_LINT_CRITICAL_STAYS'] : []);
  });

  test('the finding explains that critical is final', () => {
    expect(lint([everything, batch], ['batch-1', 'web'])[0]?.message).toBe(
      'rules[1] (name: batch-*) has no effect on batch-1: rules[0] makes it critical, and critical: false does not undo that',
    );
  });
});

describe('a rule about a container of Docker or Podman', () => {
  const systemd = (...slices: readonly string[]): WorkloadSourceSpec => ({ systemd: { slices, units: [] } });
  test.each<[rule: string, source: WorkloadSourceSpec, reported: boolean]>([
    ['the path where Docker puts containers', systemd('system.slice'), false],
    ['the path where Podman puts containers', systemd('machine.slice'), false],
    ['the units of the containers', { systemd: { slices: [], units: ['docker-*.scope'] } }, false],
    ['a path in another slice', systemd('batch.slice'), true],
  ])('%s', (_rule, source, reported) => {
    const found = lintRules(subject([], { rules: [{ match: { name: 'web' }, priority: 1 }], workloads: [source] }), undefined);
    expect(found.map(({ code }) => code)).toEqual(reported ? ['EVICTD_LINT_RULE_UNREACHABLE'] : []);
  });

  test('a rule about a container is not reported if the container exists now', () => {
    const workloads = { present: [{ ...present('web'), matched: [0] }], sources: [] };
    const rules = [{ match: { name: 'web' }, priority: 1 }];
    expect(lintRules(subject([], { rules, workloads: [systemd('batch.slice')] }), machine({ workloads }))).toEqual([]);
  });
});

test.each<[rule: string, match: Rule['match'], codes: string[]]>([
  ['a name may be that of a container whose name was not found', { name: 'docker-web*' }, []],
  ['a path cannot', { path: '/system.slice/docker-web.scope' }, ['EVICTD_LINT_RULE_UNMATCHED']],
])('a rule that matches no workload now: %s', (_rule, match, codes) => {
  const problems = [{ code: 'EVICTD_CONTAINER_NAME', message: 'the name of container …' }];
  const workloads = {
    present: [{ ...present('docker-x.scope'), matched: [] }],
    sources: [{ text: 'system.slice', workloads: 1, unreadable: 0, problems }],
  };
  const sources = [{ systemd: { slices: ['system.slice'], units: [] } }];
  const found = lintRules(subject([], { rules: [{ match, priority: 1 }], workloads: sources }), machine({ workloads }));
  expect(found.map(({ code }) => code)).toEqual(codes);
});

test('liftProtection of a part of a desktop has no effect, because the slice of the desktop protects it', () => {
  const path = '/user.slice/user-1000.slice/user@1000.service/session.slice/org.gnome.Shell@wayland.service';
  const name = 'org.gnome.Shell@wayland.service';
  const workloads = { present: [{ ...present(name), path, matched: [0] }], sources: [] };
  const rules = [{ match: { name }, critical: false, liftProtection: true }];
  const sources = [{ systemd: { slices: ['user.slice'], units: [] } }];
  expect(lintRules(subject([], { rules, workloads: sources }), machine({ workloads }))).toEqual([]);
});

describe('a rule about pods that can never match', () => {
  const runtime: readonly WorkloadSourceSpec[] = [{ cri: { endpoint: 'unix:///run/crio/crio.sock' } }];
  test.each<[rule: string, match: Rule['match'], sources: readonly WorkloadSourceSpec[], hint: string | undefined]>([
    ['a pod', { name: 'default/web' }, runtime, undefined],
    ['a container', { name: 'default/web/app' }, runtime, undefined],
    ['a label', { labels: { app: 'web' } }, runtime, undefined],
    ['any path may match', { path: '/k8s.io/x' }, runtime, undefined],
    ['a pod without its namespace', { name: 'web' }, runtime, "name: '*/web'"],
    ['a label without pods', { labels: { app: 'web' } }, [{ cgroup: '/x' }], 'cri: {endpoint:'],
  ])('%s', (_rule, match, workloads, hint) => {
    const [found, ...others] = lintRules(subject([], { rules: [{ match, priority: 1 }], workloads }), undefined);
    expect(others).toEqual([]);
    expect(found?.code).toBe(hint === undefined ? undefined : 'EVICTD_LINT_RULE_UNREACHABLE');
    expect(found?.hint ?? '').toContain(hint ?? '');
  });
});

describe('a taint in the configuration', () => {
  const taints = [{ key: 'gpu', value: '', effect: 'NoExecute' }] as const;
  const gpu = { key: 'gpu', operator: 'Exists', value: '', effect: '' };
  const timed = { ...gpu, effect: 'NoExecute', tolerationSeconds: 30n };
  const web = { name: 'web' };

  test.each<[rule: string, rules: readonly Rule[], names: readonly string[] | undefined, codes: readonly string[]]>([
    ['that one workload tolerates', [{ match: web, tolerations: [gpu] }], ['web', 'db'], []],
    ['that every workload of the machine tolerates', [{ match: web, tolerations: [gpu] }], ['web'], ['TOLERATED']],
    ['that workloads tolerate for a time', [{ match: {}, tolerations: [timed] }], ['web'], []],
    ['that a rule for everything tolerates', [{ match: {}, tolerations: [gpu] }], undefined, ['TOLERATED']],
    [
      'that an earlier rule tolerates for a time, because the first toleration counts',
      [
        { match: web, tolerations: [timed] },
        { match: {}, tolerations: [gpu] },
      ],
      ['web', 'db'],
      [],
    ],
    ['that one rule tolerates for a time first', [{ match: web, tolerations: [timed, gpu] }], ['web'], []],
    [
      'that a later rule tolerates for a time',
      [
        { match: {}, tolerations: [gpu] },
        { match: web, tolerations: [timed] },
      ],
      ['web'],
      ['TOLERATED'],
    ],
    ['that no workload tolerates', [{ match: web, tolerations: [{ ...gpu, key: 'cpu' }] }], undefined, ['EVICTS_ALL']],
  ])('%s', (_rule, rules, names, codes) => {
    const effectOf = compileRules(rules);
    const workloads = names?.map((name) => ({ ...present(name), matched: effectOf(present(name)).matched }));
    const facts = workloads && machine({ workloads: { present: workloads, sources: [] } });
    const found = lintTaints(subject([], { rules, taints }), facts);
    expect(found.map(({ code, key }) => [code, key])).toEqual(codes.map((code) => [`EVICTD_LINT_TAINT_${code}`, 'taints[0]']));
  });
});
