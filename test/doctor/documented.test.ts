import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

/** Every check's id as it stands in its file, with the part that varies as in the documentation: notifier.SIGNAL. */
const ids = readdirSync('src/doctor')
  .filter((name) => name.endsWith('.ts'))
  .flatMap((name) => [...readFileSync(`src/doctor/${name}`, 'utf8').matchAll(/^const ID(?:_\w+)? = '([^']+)'/gm)].map(([, id]) => id));

test('docs/doctor.md has every check, and no other', () => {
  const documented = [...readFileSync('docs/doctor.md', 'utf8').matchAll(/^\| `([^`]+)` \|/gm)].map(([, id]) => id);
  expect(ids.length).toBeGreaterThan(4);
  expect(documented.sort()).toEqual([...new Set(ids)].sort());
});
