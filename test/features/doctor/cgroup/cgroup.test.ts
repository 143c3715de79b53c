import { describe, expect, test } from 'vitest';
import { cgroupNamespaceCheck, controllersCheck, podsLimitCheck } from '../../../../src/features/doctor/checks/cgroup.js';
import type { CheckStatus } from '../../../../src/features/doctor/check.js';
import type { CgroupFacts } from '../../../../src/host/facts.js';
import { cgroupFacts, expectCheck, GIB, hard, nodeFacts } from '../support.js';

const v1 = { memory: { version: 1, mountPoint: '/sys/fs/cgroup/memory' } } as const;
const own = { cgroup: 'own', pid: 'own', user: 'initial' } as const;

describe('the check cgroup.namespace', () => {
  test.each<[rule: string, facts: Partial<CgroupFacts>, status: CheckStatus, summary: RegExp]>([
    ['a shell on the machine', {}, 'ok', /^initial namespaces/],
    [
      'a container sees only its own cgroups and processes',
      { namespaces: own, rootVisible: false },
      'degraded',
      /only by cgroup\.kill; .*shows only a part .*, those of this container; memory\.max and pids\.max of cgroups above are not seen/,
    ],
    [
      'a container on v1, whose memory.stat has the limit above',
      { ...v1, rootVisible: false },
      'degraded',
      /; pids\.max of cgroups above are not seen/,
    ],
    [
      'a PID namespace on v1',
      { ...v1, namespaces: { ...own, cgroup: 'initial' } },
      'broken',
      /on cgroup v1 evictd cannot end processes outside/,
    ],
    ['a user namespace', { namespaces: { ...own, user: 'own' } }, 'broken', /root is unprivileged on the host/],
    ['mounted read-only', { writable: false }, 'degraded', /is not writable: no cgroup\.kill/],
    ['unknown namespaces', { namespaces: { cgroup: undefined, pid: undefined, user: undefined } }, 'ok', /^initial namespaces/],
  ])('%s', (_rule, facts, status, summary) => {
    expectCheck(cgroupNamespaceCheck.judge({ cgroup: cgroupFacts(facts) })[0], 'cgroup.namespace', status, summary);
  });
});

describe('the check cgroup.controllers', () => {
  const reached = { path: '/a.slice', stopsAt: undefined };

  test.each<[rule: string, delegations: CgroupFacts['delegations'], status: CheckStatus, summary: RegExp, fix: RegExp]>([
    [
      'the controller is enabled in every cgroup above the workload',
      [reached, { path: '/b', stopsAt: undefined }],
      'ok',
      /enabled for the children of \/a\.slice, \/b$/,
      /^$/,
    ],
    [
      'the controller is missing below a cgroup in between',
      [reached, { path: '/b/c', stopsAt: '/b' }],
      'broken',
      /children of \/b\/c \(disabled in \/b\)/,
      />\/sys\/fs\/cgroup\/b\/cgroup\.subtree_control$/,
    ],
    [
      'the controller is missing below the root',
      [{ path: '/b', stopsAt: '/' }],
      'broken',
      /disabled in \/\)/,
      />\/sys\/fs\/cgroup\/cgroup\.subtree_control$/,
    ],
  ])('%s', (_rule, delegations, status, summary, fix) => {
    const [check] = controllersCheck.judge({ service: { kind: 'no systemd' }, cgroup: cgroupFacts({ delegations }) });
    expectCheck(check, 'cgroup.controllers', status, summary);
    expect(check?.fix ?? '').toMatch(fix);
  });

  test('is ok on v1, which has its controller everywhere, and does not exist without workloads', () => {
    expect(
      controllersCheck.judge({
        service: { kind: 'no systemd' },
        cgroup: cgroupFacts({ ...v1, delegations: [{ path: '/a', stopsAt: '/' }] }),
      }),
    ).toEqual([]);
    expect(controllersCheck.judge({ service: { kind: 'no systemd' }, cgroup: cgroupFacts() })).toEqual([]);
  });
});

describe('the check cgroup.pods', () => {
  const pods = (limitBytes: bigint | undefined) => ({ path: '/kubepods.slice', limitBytes });
  const both = hard('memory.available<500Mi,allocatableMemory.available<500Mi');

  test.each<[rule: string, facts: CgroupFacts['pods'], watched: boolean, status: CheckStatus, summary: RegExp, fix: RegExp]>([
    ['no less than the node has', pods(8n * GIB), false, 'ok', /limited to 8GiB: the node has no more$/, /^$/],
    [
      'less, and allocatable memory is watched',
      pods(6n * GIB),
      true,
      'ok',
      /limited to 6GiB: allocatableMemory\.available has a thr/,
      /^$/,
    ],
    [
      'less, and nothing watches it',
      pods(6n * GIB),
      false,
      'degraded',
      /^\/kubepods\.slice, which has all pods, is limited to 6GiB, less than the node has: the kernel kills there before memory/,
      /^set allocatable: \{cgroup: \/kubepods\.slice\}, and/,
    ],
  ])('the pods have %s', (_rule, facts, watched, status, summary, fix) => {
    const memory = ['memory.available', 8n * GIB] as const;
    const capacities = new Map(watched ? [memory, ['allocatableMemory.available', 6n * GIB] as const] : [memory]);
    const node = nodeFacts({ capacities, thresholds: both });
    const [check] = podsLimitCheck.judge({ cgroup: cgroupFacts({ pods: facts }), node });
    expectCheck(check, 'cgroup.pods', status, summary);
    expect(check?.fix ?? '').toMatch(fix);
  });

  test('does not exist without pods, or without a limit', () => {
    for (const facts of [undefined, pods(undefined)])
      expect(podsLimitCheck.judge({ cgroup: cgroupFacts({ pods: facts }), node: nodeFacts() })).toEqual([]);
  });
});
