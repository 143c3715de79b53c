import { expect, test } from 'vitest';
import { stopMethodOf } from '../../../src/core/message/stop-method.js';
import { targetId } from '../../../src/core/windows/windows-target.js';

test.each<[what: string, id: string, ask: string, kill: string]>([
  ['a cgroup', '/workload.slice/web#123', 'SIGTERM', 'SIGKILL'],
  ['a pod', '0b5f7a9e-2f1b-4c51-9b42-5f0e3a8f9a10', 'SIGTERM', 'SIGKILL'],
  ['a tree of processes', targetId({ kind: 'tree', pid: 12, createdAt: 5n }), 'TerminateProcess', 'TerminateProcess'],
  ['a service', targetId({ kind: 'service', name: 'web', pid: 12, createdAt: 5n }), 'service stop', 'TerminateProcess'],
  ['a job', targetId({ kind: 'job', name: 'batch' }), 'TerminateJobObject', 'TerminateJobObject'],
])('%s', (_what, id, ask, kill) => {
  expect(stopMethodOf({ id })).toEqual({ ask, kill });
});
