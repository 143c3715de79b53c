import { describe, expect, test } from 'vitest';
import { cgroupNameOf, isSliceName, isTemplate, slicePath, unitKind, unitNameOf, unitPlace } from '../../../src/core/systemd/unit.js';

test.each<[name: string, kind: string | undefined]>([
  ['web.service', 'service'],
  ['web@1.service', 'service'],
  ['a.b.service', 'service'],
  ['dev-disk-by\\x2dlabel-a.swap', 'swap'],
  ['dbus-:1.2-org.example@0.service', 'service'],
  ['run-r1.scope', 'scope'],
  ['batch.slice', 'slice'],
  ['-.slice', 'slice'],
  ['-.mount', 'mount'],
  ['web', undefined],
  ['.service', undefined],
  ['@1.service', undefined],
  ['web.Service', undefined],
  ['web.services', undefined],
  ['memory.stat', undefined],
  ['cgroup.procs', undefined],
  ['a b.service', undefined],
  ['a/b.service', undefined],
  ['wéb.service', undefined],
  [`${'a'.repeat(247)}.service`, 'service'],
  [`${'a'.repeat(248)}.service`, undefined],
])('%s', (name, kind) => {
  expect(unitKind(name)).toBe(kind);
});

test.each<[name: string, template: boolean]>([
  ['web@.service', true],
  ['web@1.service', false],
  ['web.service', false],
])('the template of the unit name %s is %s', (name, template) => {
  expect(isTemplate(name)).toBe(template);
});

test.each<[slice: string, path: string | undefined]>([
  ['batch.slice', '/batch.slice'],
  ['batch-night.slice', '/batch.slice/batch-night.slice'],
  ['a-b-c.slice', '/a.slice/a-b.slice/a-b-c.slice'],
  ['user-1000.slice', '/user.slice/user-1000.slice'],
  ['-.slice', '/'],
  ['a\\x2db.slice', '/a\\x2db.slice'], // a dash in the name itself is no level
  ['a_b.c.slice', '/a_b.c.slice'],
  ['memory.slice', '/_memory.slice'], // looks like a file of the kernel
  ['memory-io.slice', '/_memory.slice/memory-io.slice'],
  ['-a.slice', undefined],
  ['a-.slice', undefined],
  ['a--b.slice', undefined],
  ['a@b.slice', undefined],
  ['a.service', undefined],
])('the slice %s is %s', (slice, path) => {
  expect(isSliceName(slice) ? slicePath(slice) : undefined).toBe(path);
});

test.each<[unit: string, directory: string]>([
  ['web.service', 'web.service'],
  ['memory.service', '_memory.service'],
  ['io.scope', '_io.scope'],
  ['bpf-devices.service', '_bpf-devices.service'],
  ['cgroup.service', '_cgroup.service'],
  ['memory.a.service', 'memory.a.service'],
  ['_web.service', '__web.service'],
  ['.web.service', '_.web.service'],
])('the cgroup of %s is %s', (unit, directory) => {
  expect(cgroupNameOf(unit)).toBe(directory);
  expect(unitNameOf(directory)).toBe(unit);
});

describe('the kind of a cgroup', () => {
  const manager = '/user.slice/user-1000.slice/user@1000.service';
  test.each<[path: string, kind: string, unit?: string, ofUser?: true]>([
    ['/', 'slice'],
    ['/batch.slice', 'slice'],
    ['/batch.slice/batch-night.slice', 'slice'],
    ['/batch.slice/a.service', 'unit', '/batch.slice/a.service'],
    ['/batch.slice/batch-night.slice/_memory.service', 'unit', '/batch.slice/batch-night.slice/_memory.service'],
    ['/init.scope', 'unit', '/init.scope'],
    ['/system.slice/docker-1f.scope/system.slice/sshd.service', 'inside', '/system.slice/docker-1f.scope'],
    ['/batch.slice/a.service/worker', 'inside', '/batch.slice/a.service'],
    ['/system.slice/dev-hugepages.mount', 'elsewhere'],
    ['/system.slice/a.socket/b.service', 'elsewhere'],
    ['/docker/1f', 'elsewhere'],
    [manager, 'manager', manager],
    [`${manager}/app.slice`, 'slice'],
    [`${manager}/app.slice/editor.service`, 'unit', `${manager}/app.slice/editor.service`, true],
    [`${manager}/app.slice/editor.service/a`, 'inside', `${manager}/app.slice/editor.service`, true],
    [`${manager}/init.scope`, 'unit', `${manager}/init.scope`, true],
    [`${manager}/other`, 'inside', manager],
    [`${manager}/app.slice/user@1.service`, 'unit', `${manager}/app.slice/user@1.service`, true], // no manager of the system's
    [`${manager}/app.slice/user@1.service/a.service`, 'inside', `${manager}/app.slice/user@1.service`, true],
    ['/user.slice/user-1000.slice/session-1.scope', 'unit', '/user.slice/user-1000.slice/session-1.scope'],
  ])('%s', (path, kind, unit, ofUser) => {
    const place = unitPlace(path);
    expect([place.kind, place.unit?.path, place.unit?.manager]).toEqual([kind, unit, unit && (ofUser ? 'user' : 'system')]);
  });
});
