import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { NativeOrderPlan } from '../../src/native/index.js';
import { native } from '../../src/native/index.js';
import { cgroup2, closing, hasMemoryV1, makeCgroup, makeDirectory, makeNumberFile, memoryV1, thrownBy, until } from './kernel.js';

// What the waiter's thread does with an order: native/test/kill. Here: what JavaScript gives it and gets from it.

const number = (path: string) => ({ files: [{ path, format: 'number' }], weights: [1] }) as const;

function scene() {
  const cgroup = makeCgroup(hasMemoryV1 ? memoryV1 : cgroup2);
  const member = spawn('sleep', ['600']);
  onTestFinished(() => void member.kill('SIGKILL'));
  writeFileSync(join(cgroup, 'cgroup.procs'), String(member.pid));
  const file = join(makeDirectory(), 'order');
  writeFileSync(file, Buffer.alloc(4096));
  const [node, usage] = [makeNumberFile(97), makeNumberFile(5)];
  const wakes: bigint[] = [];
  const order = closing(new native.StandingOrder(file, undefined, (_wake, atNs) => wakes.push(atNs)));
  const plan: NativeOrderPlan = {
    conditions: [{ value: number(node.path), atLeast: 100 }],
    settlesNs: 1n,
    candidates: [
      {
        ...{ cgroup, id: statSync(cgroup, { bigint: true }).ino, value: number(usage.path), offset: -1 },
        ...{ record: Buffer.from('record'), elsewhere: ['/sys/fs/cgroup/none'] },
      },
    ],
    attributes: ['user.evictd_test'],
    afterNs: 1_000_000n,
    unexplainedNs: 1_000_000n,
    slack: 0,
    expiresNs: 2n ** 63n,
    byFile: !hasMemoryV1,
    apart: true,
  };
  // Any other watch: its wake makes the thread look.
  const bell = makeNumberFile(0);
  closing(new native.Sampler({ ...number(bell.path), limits: [1], maxRatePerSecond: 1, maxPeriodMs: 2 }, () => undefined));
  return { cgroup, member, file, node, bell, wakes, order, plan };
}

test('an order is carried out after a wake of another watch, and its result is taken once', async () => {
  const { member, file, node, bell, wakes, order, plan } = scene();
  expect(order.place(plan, 0n)).toBe(true);
  node.show(101);
  bell.show(1);
  expect((await once(member, 'exit'))[1]).toBe('SIGKILL');
  await until('it wakes', () => wakes.length === 1);
  expect(order.place(plan, 0n)).toBe(false);
  expect(order.withdraw()).toBe(false);
  const result = order.take();
  expect(result).toMatchObject({ candidate: 0, node: 101, value: 5, processes: 1, errno: 0, unrecorded: 0 });
  expect(result?.atNs).toBeGreaterThanOrEqual((result?.crossedNs ?? 0n) + plan.afterNs);
  expect(readFileSync(file).toString('latin1', 64, 70)).toBe('record');
  expect(readFileSync(file).readBigUInt64LE(0)).toBe(result?.crossedNs);
  expect(order.take()).toBeUndefined();
  expect(order.withdraw()).toBe(true);
});

test('an order compares a value below 0, as what is available × −1', async () => {
  const { member, node, bell, wakes, order, plan } = scene();
  const value = { ...number(node.path), weights: [-1] };
  node.show(103);
  expect(order.place({ ...plan, conditions: [{ value, atLeast: -99 }] }, 0n)).toBe(true);
  node.show(99);
  bell.show(1);
  expect((await once(member, 'exit'))[1]).toBe('SIGKILL');
  await until('it wakes', () => wakes.length === 1);
  expect(order.take()).toMatchObject({ candidate: 0, node: -99, value: 5 });
});

test('an order throws for a candidate that does not exist any more, another one of its name, or an unreadable file', () => {
  const { order, plan } = scene();
  const [candidate] = plan.candidates;
  if (candidate === undefined) throw new Error('none');
  const place = (by: object) => thrownBy(() => order.place({ ...plan, candidates: [{ ...candidate, ...by }] }, 0n));
  expect(place({ cgroup: '/sys/fs/cgroup/none' })).toMatchObject({ code: 'ENOENT' });
  expect(place({ id: candidate.id + 1n })).toMatchObject({ code: 'ESTALE' });
  expect(place({ value: number('/proc/none') })).toMatchObject({ code: 'ENOENT' });
  expect(place({ record: 'text' })).toMatchObject({ code: 'ERR_INVALID_ARG_TYPE' });
  expect(thrownBy(() => order.place({ ...plan, candidates: [] }, 0n))).toMatchObject({ code: 'ERR_INVALID_ARG_TYPE' });
  expect(thrownBy(() => order.place({ ...plan, conditions: [] }, 0n))).toMatchObject({ code: 'ERR_INVALID_ARG_TYPE' });
  expect(thrownBy(() => new native.StandingOrder('/proc/none', undefined, () => undefined))).toMatchObject({ code: 'ENOENT' });
});

test.each(['the candidate', 'its cgroup in another hierarchy'])(
  'an order is out of date where an attribute of %s has changed',
  async (of) => {
    const { cgroup, member, node, bell, wakes, order, plan } = scene();
    const namesake = makeCgroup(cgroup2);
    const candidates = plan.candidates.map((candidate) => ({ ...candidate, elsewhere: [namesake] }));
    expect(order.place({ ...plan, candidates }, 0n)).toBe(true);
    native.setxattr(of === 'the candidate' ? cgroup : namesake, 'user.evictd_test', '1');
    node.show(101);
    bell.show(1);
    await until('it wakes', () => wakes.length === 1);
    expect(order.take()).toMatchObject({ candidate: undefined, errno: 0 });
    expect(member.exitCode ?? member.signalCode).toBeNull();
  },
);

test('after close no order exists, and every call has no effect', () => {
  const { order, plan } = scene();
  order.place(plan, 0n);
  order.close();
  expect(order.place(plan, 0n)).toBe(false);
  expect(order.withdraw()).toBe(true);
  expect(order.take()).toBeUndefined();
  order.seen(1n);
  order.postpone(1n);
  expect(order.status()).toMatchObject({ mechanism: 'standing_order', live: false });
});
