import { expect, test } from 'vitest';
import { unitSince } from '../../../src/features/policy/unit-since.js';
import type { LoadedUnit } from '../../../src/core/systemd/loaded-unit.js';

/** Units that systemd has described, by name, with their cgroup. */
const known: Readonly<Record<string, string>> = {
  'web.service': '/system.slice/web.service',
  'moved.service': '/other.slice/moved.service',
  'user@1000.service': '/user.slice/user-1000.slice/user@1000.service',
  'a-b.slice': '',
};
const since = unitSince({
  unit: (name) => {
    const controlGroup = known[name];
    return controlGroup === undefined ? undefined : ({ controlGroup, sinceNs: 7n } as LoadedUnit);
  },
  awaited: (name) => name === 'new.service',
});

test.each<[what: string, path: string, answer: ReturnType<typeof since>]>([
  ['a service', '/system.slice/web.service', 7n],
  ['a slice, whose name says its path', '/a.slice/a-b.slice', 7n],
  ["a user's manager, which is a unit of the system", '/user.slice/user-1000.slice/user@1000.service', 7n],
  ['a unit that systemd has been asked about', '/system.slice/new.service', 'awaited'],
  ['a unit that systemd does not know', '/system.slice/gone.service', undefined],
  ['a cgroup with the name of a unit in another slice', '/system.slice/moved.service', undefined],
  ['a cgroup with the name of a slice in another slice', '/b.slice/a-b.slice', undefined],
  ['a part of a unit', '/system.slice/web.service/worker', undefined],
  ['a unit of a user, who chooses its name', '/user.slice/user-1000.slice/user@1000.service/app.slice/web.service', undefined],
  ['the root', '/', undefined],
  ['a cgroup that is not a unit', '/pods/web', undefined],
])('%s', (_what, path, answer) => {
  expect(since(path)).toBe(answer);
});
