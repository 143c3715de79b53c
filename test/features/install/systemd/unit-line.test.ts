import { expect, test } from 'vitest';
import { commandLine, pathWord, wordsOf } from '../../../../src/features/install/systemd/units.js';

test.each<[rule: string, word: string, written: string]>([
  ['a path is unchanged', '/usr/lib/evictd/dist/evictd.js', '/usr/lib/evictd/dist/evictd.js'],
  ['a blank does not part it', '/opt/my apps/node', '"/opt/my apps/node"'],
  ['% begins no specifier', '/opt/100%/node', '/opt/100%%/node'],
  ['$ begins no variable', '/opt/$HOME/node', '/opt/$$HOME/node'],
  ['$ and % are escaped between quotes, too', '/opt/a %h $b', '"/opt/a %%h $$b"'],
  ['quotes and backslashes', '/opt/"a"\\b', '"/opt/\\"a\\"\\\\b"'],
  ['a single quote begins nothing', "/opt/it's", '"/opt/it\'s"'],
  ['a new line ends nothing', '/opt/a\nExecStart=/bin/sh', '"/opt/a\\x0aExecStart=/bin/sh"'],
  ['a semicolon ends no command', ';', '";"'],
  ['an empty argument is quoted', '', '""'],
  ['letters of any script', '/opt/é', '"/opt/é"'],
])('an argument in a unit file: %s', (_rule, word, written) => {
  expect(commandLine(['/bin/node', word])).toBe(`/bin/node ${written}`);
  expect(wordsOf(`/bin/node ${written} $RUN_OPTIONS`)).toEqual(['/bin/node', word, '$RUN_OPTIONS']);
});

test('a variable of the unit is left to systemd to expand', () => {
  expect(commandLine(['/bin/node', 'run', { variable: 'MAINPID' }])).toBe('/bin/node run $MAINPID');
});

test('only % is special in a list of paths', () => {
  expect(['-/srv/$x', '-/srv/50% full'].map(pathWord)).toEqual(['-/srv/$x', '"-/srv/50%% full"']);
});
