import { describe, test } from 'vitest';
import type { CheckStatus } from '../../../../src/features/doctor/check.js';
import { numaCheck } from '../../../../src/features/doctor/checks/numa.js';
import { operatorsCheck } from '../../../../src/features/doctor/checks/workloads.js';
import type { ListedWorkload } from '../../../../src/features/doctor/machine-facts.js';
import type { FoundOperators, Operator } from '../../../../src/core/systemd/operator.js';
import { expectCheck, workloadFacts } from '../support.js';

describe('the check workloads.operators', () => {
  const root: Operator = { uid: 0, name: 'root', because: [] };
  const ann: Operator = { uid: 1000, name: 'ann', because: ['member of group sudo', '/etc/sudoers.d/ann'] };
  const session = (uid: number, unevictable: string | undefined): ListedWorkload => {
    return { name: `session-${String(uid)}.scope`, path: `/user.slice/user-${String(uid)}.slice/session-1.scope`, unevictable };
  };

  test.each<[rule: string, found: Partial<FoundOperators>, listed: readonly ListedWorkload[], status: CheckStatus, said: RegExp]>([
    ['root is the only operator', { operators: [root] }, [], 'ok', /^operators: root; no workload is a login session of theirs$/],
    [
      'another user is an operator, with the reason',
      {},
      [],
      'ok',
      /^operators: root, ann \(member of group sudo; \/etc\/sudoers\.d\/ann\); no/,
    ],
    ['a session of an operator', {}, [session(1000, 'unit')], 'ok', /; protected: \/user\.slice\/user-1000\.slice\/session-1\.scope$/],
    ['a session whose protection a rule lifts', {}, [session(1000, undefined)], 'ok', /; no workload is/],
    ['a session of another user', {}, [session(1001, 'critical')], 'ok', /; no workload is/],
    [
      'a file that cannot be read',
      { unread: ['/etc/sudoers'] },
      [],
      'degraded',
      /^cannot read \/etc\/sudoers: not all operators are known; /,
    ],
    [
      'many',
      { operators: [root, ...Array.from({ length: 20 }, (_, index) => ({ ...ann, uid: index + 1, because: [] }))] },
      [],
      'ok',
      /^operators: root(, ann){7}, 13 more; /,
    ],
  ])('%s', (_rule, found, listed, status, said) => {
    const operators = { operators: [root, ann], unread: [], ...found };
    const [check] = [operatorsCheck.judge({ operators, workloads: workloadFacts({ listed }) })].flat();
    expectCheck(check, 'workloads.operators', status, said);
  });
});

describe('the check workloads.numa', () => {
  const HAS_MEMORY = '/sys/devices/system/node/has_memory';
  const ZONES = '/proc/zoneinfo';

  test.each<[rule: string, files: Readonly<Record<string, string>>, status: CheckStatus, said: RegExp]>([
    ['one memory node', { [HAS_MEMORY]: '0\n' }, 'ok', /^one memory node$/],
    ['a kernel without NUMA', { [ZONES]: 'Node 0, zone      DMA\nNode 0, zone   Normal\n' }, 'ok', /^one memory node$/],
    ['neither file can be read', {}, 'degraded', /^unknown memory nodes: /],
    ['two memory nodes', { [HAS_MEMORY]: '0-1\n' }, 'ok', /^2 memory nodes, and no workload/],
    ['two memory nodes, found in the other file', { [ZONES]: 'Node 0, zone DMA\nNode 1, zone Normal\n' }, 'ok', /^2 memory nodes, and no/],
  ])('%s', (_rule, files, status, said) => {
    const [check] = [numaCheck.judge({ kernelFile: (path) => files[path], workloads: workloadFacts() })].flat();
    expectCheck(check, 'workloads.numa', status, said);
  });
});
