import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DEPARTURES, departuresOf } from '../../../src/core/decide/departures.js';

const root = join(import.meta.dirname, '../../..');

test('all are taken for evictd, none for the kubelet, and each can be switched by its name', () => {
  expect(Object.values(departuresOf('evictd'))).toEqual(DEPARTURES.map(() => true));
  expect(Object.values(departuresOf('kubelet'))).toEqual(DEPARTURES.map(() => false));
  expect(departuresOf('evictd', { 'hard-grace': false })).toEqual({ ...departuresOf('evictd'), 'hard-grace': false });
  expect(departuresOf('kubelet', { 'hard-grace': true })).toEqual({ ...departuresOf('kubelet'), 'hard-grace': true });
});

/** Those that change what a configuration means are shown there. */
const inConfiguration = ['merge-defaults', 'soft-default-grace', 'allocatable'] as const;

test.each(DEPARTURES)('%s is explained to operators, and shown side by side in a test', (name) => {
  expect(readFileSync(join(root, 'docs/decisions.md'), 'utf8')).toContain(`| \`${name}\` |`);
  const configured = (inConfiguration as readonly string[]).includes(name);
  const file = join(root, configured ? 'test/config/merge/kubelet-profile.test.ts' : `test/core/departures/${name}.test.ts`);
  expect(existsSync(file) && (!configured || readFileSync(file, 'utf8').includes(`('${name}: %s'`))).toBe(true);
});
