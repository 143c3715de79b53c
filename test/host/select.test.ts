import { expect, test } from 'vitest';
import { HostError } from '../../src/errors.js';
import { selectHost } from '../../src/host/select.js';

test('Linux', () => {
  expect(selectHost('linux').openNode).toBeTypeOf('function');
});

test.each(['darwin', 'win32', 'freebsd'] as const)('%s: not yet, and said', (platform) => {
  expect(() => selectHost(platform)).toThrow(HostError);
  expect(() => selectHost(platform)).toThrow(expect.objectContaining({ code: 'EVICTD_HOST_PLATFORM' }));
});
