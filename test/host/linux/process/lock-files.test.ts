import manifest from '../../../../package.json' with { type: 'json' };
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { textOfBytes } from '../../../../src/core/name/byte-text.js';
import { controlSocketPath } from '../../../../src/host/instance-lock.js';
import { lockInstance, instanceName, type InstanceLock } from '../../../../src/host/linux/process/lock-files.js';
import { native } from '../../../../src/native/index.js';
import { UnavailableError } from '../../../../src/errors.js';
import type { NodeIdentity } from '../../../../src/monitor/ports/ports.js';
import { temporaryDirectory } from '../../../support/temporary-directory.js';

const machine: NodeIdentity = { name: 'machine', cgroup: undefined, cgroupVersion: 1 };
const guarded = (cgroup: string): NodeIdentity => ({ name: cgroup, cgroup, cgroupVersion: 1 });

let directory: string;
const held: InstanceLock[] = [];
const lock = (node: NodeIdentity, where = directory) => held.push(lockInstance(where, node, native));

beforeEach(() => {
  directory = temporaryDirectory();
});
afterEach(() => {
  for (const one of held.splice(0)) one.close();
  chmodSync(directory, 0o700);
});

test('a second evictd for a node is refused with the holder’s pid', () => {
  lock(machine);
  expect(() => lock(machine)).toThrow(UnavailableError);
  expect(() => lock(machine)).toThrow(
    expect.objectContaining({
      code: 'EVICTD_INSTANCE_RUNNING',
      message: expect.stringContaining(`process ${String(process.pid)}`) as string,
    }),
  );
});

test('different nodes do not exclude each other', () => {
  lock(machine);
  lock(guarded('/a'));
  expect(() => lock(guarded('/a/b'))).not.toThrow();
});

test('the lock can be acquired after close()', () => {
  lock(machine);
  held.pop()?.close();
  expect(() => lock(machine)).not.toThrow();
});

test('the runtime directory is created', () => {
  lock(machine, join(directory, 'run/evictd'));
  expect(readFileSync(join(directory, 'run/evictd/machine.lock'), 'utf8')).toBe(`${String(process.pid)}\n${manifest.version}\n`);
});

test('a runtime directory that cannot be made is an error of the host', () => {
  writeFileSync(join(directory, 'file'), '');
  expect(() => lock(machine, join(directory, 'file/run'))).toThrow(expect.objectContaining({ code: 'EVICTD_RUNTIME_DIRECTORY' }));
});

test('a lock without a free thread is a host error, and not another evictd', () => {
  const error = Object.assign(new Error('EAGAIN: no thread'), { code: 'EAGAIN', syscall: 'pthread_create' });
  const FileLock = class {
    readonly close = (): void => undefined;
    constructor() {
      throw error;
    }
  };
  expect(() => lockInstance(directory, machine, { ...native, FileLock })).toThrow(
    expect.objectContaining({ code: 'EVICTD_RUNTIME_DIRECTORY', cause: error }),
  );
});

test.each<[rule: string, cgroup: string | undefined, expected: string]>([
  ['the machine', undefined, 'machine'],
  ['a cgroup', '/workload.slice', 'cgroup-%2Fworkload.slice'],
  ['a slash is not a dash', '/a-b', 'cgroup-%2Fa-b'],
])('the name of the lock: %s', (_rule, cgroup, expected) => {
  expect(instanceName({ ...machine, cgroup })).toBe(expected);
});

test('a path may be longer than a file name', () => {
  const [one, other] = [`/${'a'.repeat(300)}/b`, `/${'a'.repeat(300)}/c`].map((cgroup) => instanceName(guarded(cgroup)));
  expect(one?.length).toBeLessThan(255);
  expect(one).not.toBe(other);
});

test('a path may have a byte that is not UTF-8', () => {
  const [one, other] = [0xfe, 0xff].map((byte) => instanceName(guarded(textOfBytes(Uint8Array.of(0x2f, byte)))));
  expect(one).toMatch(/^cgroup-[0-9a-f]{64}$/);
  expect(one).not.toBe(other);
  lock(guarded(textOfBytes(Uint8Array.of(0x2f, 0xff))));
});

test.each<[rule: string, directory: string, instance: string, expected: RegExp]>([
  ['the name of the lock', '/run/evictd', 'machine', /^\/run\/evictd\/machine\.sock$/],
  ['107 bytes', '/run', `cgroup-${'a'.repeat(90)}`, /^\/run\/cgroup-a{90}\.sock$/],
  ['108 bytes: a hash', '/run', `cgroup-${'a'.repeat(91)}`, /^\/run\/[0-9a-f]{16}\.sock$/],
])('the path of the control socket: %s', (_rule, runtimeDirectory, instance, expected) => {
  expect(controlSocketPath(runtimeDirectory, instance)).toMatch(expected);
});

test('a dry run has a lock of its own, and there is one dry run', () => {
  lock(machine, directory);
  const dryRun = (): InstanceLock => lockInstance(directory, machine, native, true);
  const held = dryRun();
  expect(held.instance).toBe('machine-dry-run');
  expect(dryRun).toThrow(expect.objectContaining({ code: 'EVICTD_INSTANCE_RUNNING' }));
  held.close();
});
