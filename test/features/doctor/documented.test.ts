import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { LINUX_CHECKS } from '../../../src/features/doctor/linux-checks.js';
import { WINDOWS_CHECKS } from '../../../src/features/doctor/windows-checks.js';

test('docs/doctor.md has every check, and no others', () => {
  const ids = [...LINUX_CHECKS, ...WINDOWS_CHECKS].map(({ id }) => id);
  const documented = [...readFileSync('docs/doctor.md', 'utf8').matchAll(/^\| `([^`]+)` \|/gm)].map(([, id]) => id);
  expect(documented.sort()).toEqual([...new Set(ids)].sort());
});
