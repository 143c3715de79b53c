import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DEPARTURES, departuresOf } from '../../../src/core/decide/departures.js';

const root = join(import.meta.dirname, '../../..');

test('the profile evictd uses all departures, the profile kubelet none, and each can be switched by its name', () => {
  expect(Object.values(departuresOf('evictd'))).toEqual(DEPARTURES.map(() => true));
  expect(Object.values(departuresOf('kubelet'))).toEqual(DEPARTURES.map(() => false));
  expect(departuresOf('evictd', { 'hard-grace': false })).toEqual({ ...departuresOf('evictd'), 'hard-grace': false });
  expect(departuresOf('kubelet', { 'hard-grace': true })).toEqual({ ...departuresOf('kubelet'), 'hard-grace': true });
});

/** Those that change what a configuration means are shown there. */
const inConfiguration = ['merge-defaults', 'soft-default-grace', 'allocatable', 'thrashing'] as const;

/** Those that change what is read. */
const inReading: Readonly<Record<string, string>> = {
  'kernel-memory': 'test/host/linux/memory/machine-memory.test.ts',
  'reclaimable-cache': 'test/host/linux/memory/cgroup-memory.test.ts',
};

test.each(DEPARTURES)('%s is explained to operators, and shown side by side in a test', (name) => {
  expect(readFileSync(join(root, 'docs/decisions.md'), 'utf8')).toContain(`| \`${name}\` |`);
  const shows = (file: string, text: string): boolean => {
    const path = join(root, file);
    return existsSync(path) && readFileSync(path, 'utf8').includes(text);
  };
  const reading = inReading[name];
  if (reading !== undefined) expect(shows(reading, `describe('${name}`)).toBe(true);
  else if ((inConfiguration as readonly string[]).includes(name))
    expect(shows('test/config/merge/kubelet-profile.test.ts', `('${name}: %s'`)).toBe(true);
  else expect(shows(`test/core/departures/${name}.test.ts`, '')).toBe(true);
});
