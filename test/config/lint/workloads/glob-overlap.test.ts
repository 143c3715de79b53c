import { fc } from '../../../support/property.js';
import { describe, expect, test } from 'vitest';
import { ANY_NAME, globOf, literal, overlap } from '../../../../src/config/lint/workloads/glob-overlap.js';
import { compileRules } from '../../../../src/workloads/workload-rules.js';

const matchesSomeName = (glob: string, prefix: string): boolean => overlap(globOf(glob), [...literal(prefix), ...ANY_NAME]);

describe('whether a pattern reaches any direct child', () => {
  test.each<[rule: string, glob: string, prefix: string, reaches: boolean]>([
    ['a name is a name', 'web', '', true],
    ['a name has no slash', 'a/b', '', false],
    ['* does not match a slash either', '*/b', '', false],
    ['** may do without', 'a**', '', true],
    ['** needs the slash behind it', '**/b', '', false],
    ['a child of the source', '/s/web', '/s/', true],
    ['the source itself is not its own child', '/s', '/s/', false],
    ['the source with a slash at its end is not its own child', '/s/', '/s/', false],
    ['a grandchild', '/s/web/a', '/s/', false],
    ['a child of another source', '/t/web', '/s/', false],
    ['a source whose name only begins so', '/st/web', '/s/', false],
    ['* for the name of the source', '/*/web', '/s/', true],
    ['* does not reach two levels down', '/*/web', '/s/t/', false],
    ['** does', '/**/web', '/s/t/', true],
    ['** from the top', '**', '/s/', true],
    ['* from the top takes no slash', '*', '/s/', false],
    ['? matches one character', '/?/web', '/s/', true],
    ['? does not match a slash', '/s?web', '/s/', false],
    ['? matches a character beyond the BMP', '/?/web', '/😀/', true],
    ['a child of the root', '/web', '/', true],
    ['a path with two names is not a child of the root', '/s/web', '/', false],
    ['** that ends in a name', '/s/**-web', '/s/', true],
  ])('%s', (_rule, glob, prefix, reaches) => {
    expect(matchesSomeName(glob, prefix)).toBe(reaches);
  });

  test('a pattern that a rule matches is never called unreachable', () => {
    const letters = fc.constantFrom('a', 'b', '/');
    const glob = fc.array(fc.constantFrom('a', 'b', '/', '*', '**', '?'), { minLength: 1, maxLength: 8 }).map((parts) => parts.join(''));
    const prefix = fc.array(letters, { maxLength: 4 }).map((parts) => parts.join(''));
    const name = fc.array(fc.constantFrom('a', 'b'), { minLength: 1, maxLength: 3 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(glob, prefix, name, (pattern, before, child) => {
        const matched = compileRules([{ match: { path: pattern } }])({ name: child, path: before + child }).matched.length > 0;
        return !matched || matchesSomeName(pattern, before);
      }),
      { numRuns: 2000 },
    );
  });

  test('a pattern that is called reachable matches a name of three letters', () => {
    const names = ['a', 'b', 'c'].flatMap((x) => [x, ...['a', 'b', 'c'].flatMap((y) => [x + y, ...['a', 'b', 'c'].map((z) => x + y + z)])]);
    const glob = fc.array(fc.constantFrom('a', 'b', '/', '*', '**', '?'), { minLength: 1, maxLength: 4 }).map((parts) => parts.join(''));
    const prefix = fc.array(fc.constantFrom('a', 'b', '/'), { maxLength: 3 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(glob, prefix, (pattern, before) => {
        if (!matchesSomeName(pattern, before)) return true;
        const match = compileRules([{ match: { path: pattern } }]);
        return (
          pattern.replace(/[*/]/g, '').length > 3 || // longer than any of the names
          names.some((name) => match({ name, path: before + name }).matched.length > 0)
        );
      }),
      { numRuns: 2000 },
    );
  });
});
