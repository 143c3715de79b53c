import { expect, test } from 'vitest';
import type { Check } from '../../../src/features/doctor/check.js';
import type { InstanceFacts } from '../../../src/host/facts.js';
import type { RightsFacts, VolumeFacts, WindowsServiceFacts } from '../../../src/features/doctor/machine-facts.js';
import { rightsCheck } from '../../../src/features/doctor/checks/process.js';
import { windowsInstanceCheck, windowsServiceCheck } from '../../../src/features/doctor/checks/service.js';
import { workloadFacts } from './support.js';
import { volumesCheck } from '../../../src/features/doctor/checks/filesystems.js';

const MIB = 1n << 20n;

test.each<[rule: string, service: WindowsServiceFacts, status: Check['status'], summary: string]>([
  ['the service runs', { state: 'running', pid: 12 }, 'ok', 'process 12'],
  ['the service does not run', { state: 'stopped', pid: 0 }, 'degraded', 'the service evictd is stopped'],
  ['the service is not installed', { state: 'not installed' }, 'degraded', 'not a service'],
  ['the service cannot be read', { unseen: 'ERROR_ACCESS_DENIED' }, 'degraded', 'ERROR_ACCESS_DENIED'],
])('the check of the Windows service: %s', (_rule, service, status, summary) => {
  expect(windowsServiceCheck.judge({ windowsService: service })[0]).toMatchObject({
    id: 'service.manager',
    status,
    summary: expect.stringContaining(summary) as string,
  });
});

test.each<[instance: InstanceFacts, status: Check['status'], summary: string]>([
  [{ kind: 'running', pid: 12, version: undefined }, 'ok', 'process 12 guards'],
  [{ kind: 'none' }, 'degraded', 'no evictd guards'],
  [{ kind: 'none', dryRun: 7 }, 'degraded', 'process 7 is a dry run'],
  [{ kind: 'unseen', unseen: 'ERROR_ACCESS_DENIED' }, 'degraded', 'ERROR_ACCESS_DENIED'],
])('the check of the running evictd on Windows: %j', (instance, status, summary) => {
  expect(windowsInstanceCheck.judge({ instance })[0]).toMatchObject({
    id: 'service.instance',
    status,
    summary: expect.stringContaining(summary) as string,
  });
});

test.each<[rule: string, rights: RightsFacts, status: Check['status'], summary: string, fix: string | undefined]>([
  ['enabled', { isAdministrator: true, debugPrivilege: true }, 'ok', 'can end processes of all users', undefined],
  [
    'an administrator without it',
    { isAdministrator: true, debugPrivilege: false },
    'broken',
    'does not have SeDebugPrivilege',
    'Debug programs',
  ],
  ['an ordinary user', { isAdministrator: false, debugPrivilege: false }, 'broken', 'only processes of this user', 'as an administrator'],
  [
    'the privilege cannot be read',
    { isAdministrator: true, debugPrivilege: { unseen: 'ERROR_ACCESS_DENIED' } },
    'degraded',
    'ERROR_ACCESS_DENIED',
    'run',
  ],
])('the check of SeDebugPrivilege: %s', (_rule, rights, status, summary, fix) => {
  const check = rightsCheck.judge({ rights })[0];
  expect(check).toMatchObject({ id: 'process.rights', status, summary: expect.stringContaining(summary) as string });
  expect(check?.fix ?? '').toContain(fix ?? '');
});

const there = { at: 'C:\\', totalBytes: 100n * MIB, availableBytes: 50n * MIB };

test.each<[rule: string, volume: Partial<VolumeFacts>, status: Check['status'], summary: string]>([
  ['there is room', { answer: there }, 'ok', '50MiB of 100MiB available'],
  ['the volume does not answer', { answer: undefined }, 'degraded', 'did not answer'],
  ['the volume does not exist', { answer: { error: 'ERROR_INVALID_DRIVE (no such drive)' } }, 'degraded', 'no such drive'],
  ['a state directory may not be written to', { role: 'state', answer: there, refused: 'EPERM' }, 'degraded', 'EPERM'],
  ['without a runtime directory evictd does not start', { role: 'runtime', answer: there, refused: 'EPERM' }, 'broken', 'EPERM'],
  ['exactly as much as the journal wants', { role: 'state', answer: { ...there, availableBytes: 16n * MIB } }, 'ok', '16MiB'],
  ['a byte less', { role: 'state', answer: { ...there, availableBytes: 16n * MIB - 1n } }, 'degraded', 'not enough space for the journal'],
  ['a volume that is only watched needs no free space', { answer: { ...there, availableBytes: 0n } }, 'ok', '0B of'],
])('the check of a volume: %s', (_rule, volume, status, summary) => {
  const [check] = volumesCheck.judge({
    volumes: [{ role: 'nodefs', path: 'C:\\', answer: there, refused: undefined, ...volume }],
    workloads: workloadFacts(),
  });
  expect(check).toMatchObject({ id: `filesystem.${volume.role ?? 'nodefs'}`, status, summary: expect.stringContaining(summary) as string });
});
