import { describe, expect, test } from 'vitest';
import { choose, count, isProved, nextPart, table, type Result } from './results.js';

const parts = [{ name: 'tsan', group: 'native' }, { name: 'fuzz', group: 'native' }, { name: 'soak' }];

describe('choose', () => {
  test.each<[rule: string, words: readonly string[], chosen: readonly string[]]>([
    ['no word chooses every part', [], ['tsan', 'fuzz', 'soak']],
    ['names, in the order of the table', ['soak', 'tsan'], ['tsan', 'soak']],
    ['a group', ['native'], ['tsan', 'fuzz']],
    ['a group and one of its parts choose the part once', ['native', 'fuzz'], ['tsan', 'fuzz']],
  ])('%s', (_rule, words, chosen) => {
    expect(choose(parts, words).map(({ name }) => name)).toEqual(chosen);
  });

  test('an unknown word is refused with the known ones', () => {
    expect(() => choose(parts, ['tsan', 'nonsense'])).toThrow('no part nonsense; there are native, tsan, fuzz, soak');
  });
});

describe('nextPart', () => {
  const [system, soak, wine20, wine22] = [{ alone: true as const }, {}, { uses: 'wine' }, { uses: 'wine' }];
  test.each<[rule: string, left: readonly object[], running: readonly object[], next: object | undefined]>([
    ['the first, where nothing runs', [soak, wine20], [], soak],
    ['a second beside it', [wine20], [soak], wine20],
    ['no third', [{}], [soak, wine20], undefined],
    ['what another uses waits, and the next one runs', [wine22, soak], [wine20], soak],
    ['all that is left waits for what another uses', [wine22], [wine20], undefined],
    ['a part that is to be alone waits', [system], [soak], undefined],
    ['nothing runs beside it', [soak], [system], undefined],
    ['no part overtakes it', [wine22, system, soak], [wine20], undefined],
  ])('%s', (_rule, left, running, next) => {
    expect(nextPart(left, running)).toBe(next);
  });
});

describe('isProved', () => {
  const green: Result = { passed: 3, failed: 0, seconds: 1, commit: 'abc', command: 'make tests' };
  const part = { command: ['make', 'tests'], reads: ['test/native/', 'docs/'], except: ['test/native/storm', 'docs/adr/'] };
  test.each<[rule: string, result: Result | undefined, changed: readonly string[] | undefined, proved: boolean]>([
    ['passed at this commit', green, [], true],
    ['the part never ran', undefined, [], false],
    ['a commit that is not known', green, undefined, false],
    ['a failure', { ...green, failed: 1 }, [], false],
    ['the part ran no test', { ...green, passed: 0 }, [], false],
    ['another command', { ...green, command: 'make some-tests' }, [], false],
    ['the tree has uncommitted changes', { ...green, commit: 'abc+' }, [], false],
    ['since then, a test and a document that it does not read', green, ['test/e2e/soft.test.ts', 'README.md'], true],
    ['since then, a test that it reads', green, ['README.md', 'test/native/close.test.ts'], false],
    ['since then, a document that it reads', green, ['docs/tests.md'], false],
    ['since then, a test and a document that it leaves to other parts', green, ['test/native/storm.test.ts', 'docs/adr/1.md'], true],
    ['since then, what such a test shares with others', green, ['test/native/storms.ts'], false],
    ['since then, what tests share', green, ['test/support/wait.ts'], false],
    ['since then, what CI alone runs', green, ['.ci/run', '.oxlintrc.json'], true],
    ['since then, the virtual machines, which it does not start', green, ['test/vm/suites.ts'], true],
    ['since then, the driver of chaos, which it does not run', green, ['test/chaos/checker.ts'], true],
    ['since then, C++ tests, which it does not build', green, ['native/test/runner.cc'], true],
    ['since then, how parts are chosen and counted', green, ['test/proof/results.ts'], true],
    ['since then, a bundle that one command loads, which it does not run', green, ['src/features/replay/replay.ts'], true],
    ['since then, the source', green, ['src/cli/main.ts'], false],
  ])('%s', (_rule, result, changed, proved) => {
    expect(isProved(result, part, () => changed)).toBe(proved);
  });

  test.each([
    ['native/kill/linux/process.cc', false],
    ['src/cli/main.ts', true],
  ])('a part that reads nothing but C++, after a change of %s: %s', (file, proved) => {
    expect(isProved(green, { ...part, reads: [], only: ['native/'] }, () => [file])).toBe(proved);
  });
});

describe('count', () => {
  test.each<[rule: string, output: string, status: number | null, lines: number, counts: [passed: number, failed: number]]>([
    ['the last closing line', '1 passed, 0 failed\n7 passed, 2 failed\n', 1, 1, [7, 2]],
    ['two closing lines are added', '1 passed, 0 failed\nx\n7 passed, 0 failed\n', 0, 2, [8, 0]],
    ["a suite's own line is not a closing line", 'v2 | 5 passed, 1 failed\n4 passed, 0 failed', 0, 1, [4, 0]],
    ['an error without a failed test is a failure', '7 passed, 0 failed\n', 2, 1, [7, 1]],
    ['killed by a signal before any line', '', null, 1, [0, 1]],
    ['no test ran, which is a failure, whatever the status', '0 passed, 0 failed\n', 0, 1, [0, 1]],
    ['no closing line and status 0 count as one test', 'nothing grows\n', 0, 1, [1, 0]],
  ])('%s', (_rule, output, status, lines, [passed, failed]) => {
    expect(count(output, status, lines)).toEqual({ passed, failed });
  });
});

test('the table has a row for each part, with dashes for a part without a result', () => {
  expect(table(['tsan', 'soak'], { tsan: { passed: 99, failed: 0, seconds: 14.6, commit: 'abc', command: 'make tsan' } })).toBe(
    [
      'part      passed    failed   seconds    commit',
      'tsan          99         0        15       abc',
      'soak           -         -         -         -',
    ].join('\n'),
  );
});
