import { expect, test } from 'vitest';
import { cgroupVersionCheck } from '../../../../src/features/doctor/checks/cgroup.js';
import { cgroupFacts, unit } from '../support.js';

const v1 = { version: 1, mountPoint: '/sys/fs/cgroup/memory' } as const;

test.each<[rule: string, facts: Parameters<typeof cgroupFacts>[0], status: string, summary: RegExp]>([
  ['v2', {}, 'ok', /^cgroup v2 at \/sys\/fs\/cgroup$/],
  ['v1', { memory: v1, unified: false }, 'degraded', /^cgroup v1 at .*memory\.min.*process by process$/],
  ['hybrid has cgroup.kill', { memory: v1 }, 'degraded', /^hybrid: memory on cgroup v1 at [^;]*memory\.min[^,]*$/],
  ['there is no memory controller', { memory: undefined }, 'broken', /^no cgroup memory controller/],
])('%s', (_rule, facts, status, summary) => {
  const check = cgroupVersionCheck.judge({ service: unit(), cgroup: cgroupFacts(facts) })[0];
  expect(check).toMatchObject({ id: 'cgroup.version', status });
  expect(check?.summary).toMatch(summary);
});
