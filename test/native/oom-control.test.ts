import { rmdirSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { native } from '../../src/native/index.js';
import { closing, hasMemoryV1, makeCgroup, memoryV1, startIn, thrownBy, until } from './kernel.js';

const { FIRED, GONE } = native.WAKE;
const { UNDER_OOM, OOM_KILL } = native.OOM;

const watch = (cgroup: string) => {
  const wakes: { bits: number; detail: number }[] = [];
  const owner = closing(new native.OomControl(cgroup, (bits, _atNs, detail) => wakes.push({ bits, detail })));
  return { owner, wakes };
};
const limited = (parent = memoryV1) => {
  const cgroup = makeCgroup(parent);
  writeFileSync(`${cgroup}/memory.limit_in_bytes`, String(16 << 20));
  writeFileSync(`${cgroup}/memory.swappiness`, '0');
  return cgroup;
};
/** Takes memory until it is stopped. */
const fill = (cgroup: string) => startIn(cgroup, 'exec tail /dev/zero');

describe.runIf(hasMemoryV1)('memory.oom_control of a v1 cgroup', () => {
  test('fires when the limit is reached, and reports a kill', async () => {
    const cgroup = limited();
    const { owner, wakes } = watch(cgroup);
    expect([wakes, owner.status()]).toEqual([[], { mechanism: 'memcg_oom', target: cgroup, live: true, errno: 0 }]);
    await fill(cgroup);
    await until('the kill', () => wakes.some(({ detail }) => (detail & OOM_KILL) !== 0), 20_000);
    expect(wakes.every(({ bits }) => bits === FIRED)).toBe(true);
  });

  test('fires in a cgroup below the one at its limit, too, and does not report a kill in another one', async () => {
    const cgroup = limited();
    const [victim, bystander] = [makeCgroup(cgroup, 'victim'), makeCgroup(cgroup, 'bystander')];
    const [first, second] = [watch(victim), watch(bystander)];
    await fill(victim);
    await until('the kill', () => first.wakes.some(({ detail }) => (detail & OOM_KILL) !== 0), 20_000);
    await until('the other', () => second.wakes.length > 0);
    expect(second.wakes.every(({ detail }) => (detail & OOM_KILL) === 0)).toBe(true);
  });

  test('reports waiting tasks where the OOM killer is switched off', async () => {
    const cgroup = limited();
    writeFileSync(`${cgroup}/memory.oom_control`, '1');
    const { wakes } = watch(cgroup);
    await fill(cgroup);
    await until('the wait', () => wakes.some(({ detail }) => detail === UNDER_OOM), 20_000);
  });

  test('of a removed cgroup is GONE once', async () => {
    const cgroup = makeCgroup(memoryV1);
    const { owner, wakes } = watch(cgroup);
    rmdirSync(cgroup);
    await until('GONE', () => wakes.length > 0);
    expect(wakes).toEqual([{ bits: GONE, detail: 0 }]);
    expect(owner.status()).toMatchObject({ live: false, errno: 19 });
  });

  test('of a missing cgroup is ENOENT', () => {
    expect(thrownBy(() => watch(`${memoryV1}/evictd-test-none`))).toMatchObject({
      code: 'ENOENT',
      syscall: 'open',
      path: `${memoryV1}/evictd-test-none/memory.oom_control`,
    });
    expect(native.watchCount()).toBe(0);
  });
});
