import { readFileSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { errorCodes, violations, type SourceText } from './architecture.js';

const filesBelow = (root: string, ...extensions: string[]): SourceText[] =>
  readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && extensions.some((extension) => entry.name.endsWith(extension)))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
    .map((path) => ({ path, text: readFileSync(path, 'utf8') }));

const source = filesBelow('src', '.ts');
const native = filesBelow('native', '.cc', '.h');

describe('the tree', () => {
  test('every import and global follows the dependency rule', () => {
    expect(violations(source)).toEqual([]);
  });

  test('no file is longer than 300 lines', () => {
    const long = [...source, ...native]
      .map(({ path, text }) => ({ path, lines: text.trimEnd().split('\n').length }))
      .filter(({ lines }) => lines > 300);
    expect(long).toEqual([]);
  });

  test('every file is named for what is in it', () => {
    const vague = source.filter(({ path }) => /util|helper|common|misc/i.test(basename(path)));
    expect(vague.map(({ path }) => path)).toEqual([]);
  });

  test('every error code is documented, and every documented code exists', () => {
    const documented = readFileSync('docs/errors.md', 'utf8').match(/\bEVICTD(_[A-Z0-9]+)+\b/g) ?? [];
    expect(sorted(documented)).toEqual(sorted(source.flatMap(errorCodes)));
  });

  /** A folder named for a system holds what only that system compiles. */
  const systemOf = (path: string): string => /\/(linux|windows)\//.exec(path)?.[1] ?? 'both';
  const listed = (text: string): string[] => text.match(/[\w/]+\.cc\b/g) ?? [];
  /** node-gyp and cmake-js bring it for Microsoft's compiler. */
  const forMingw = 'js/windows/delay_load.cc';

  test('binding.gyp compiles exactly the C++ files of the addon, each for its system', () => {
    const text = readFileSync('binding.gyp', 'utf8');
    const [linux, windows] = [text.indexOf('OS=="linux"'), text.indexOf('OS=="win"')];
    const byPart = { both: text.slice(0, linux), linux: text.slice(linux, windows), windows: text.slice(windows) };
    for (const [part, own] of Object.entries(byPart)) {
      const compiled = native
        .map(({ path }) => path)
        .filter((path) => path.endsWith('.cc') && !path.startsWith('native/test/') && path !== `native/${forMingw}`)
        .filter((path) => systemOf(path) === part);
      expect(sorted(listed(own))).toEqual(sorted(compiled));
    }
  });

  test('native/CMakeLists.txt takes its sources from binding.gyp', () => {
    const text = readFileSync('native/CMakeLists.txt', 'utf8');
    expect(text).toContain('file(STRINGS ../binding.gyp');
    expect(listed(text)).toEqual([forMingw]);
  });

  test('a folder of the addon has at most 15 files; a header and its implementation count as one', () => {
    const names = sorted(native.map(({ path }) => path.replace(/\.\w+$/, '')));
    const crowded = [...new Set(names.map(dirname))].filter((folder) => names.filter((name) => dirname(name) === folder).length > 15);
    expect(crowded).toEqual([]);
  });

  test('a file of one system includes none of the other, and one of both systems none of either', () => {
    const wrong = native
      .filter(({ path }) => !path.startsWith('native/test/'))
      .flatMap(({ path, text }) =>
        [...text.matchAll(/^#include "([^"]+)"/gm)].map(([, included = '']) => ({ path, included, system: systemOf(`/${included}`) })),
      )
      .filter(({ path, system }) => system !== 'both' && system !== systemOf(path));
    expect(wrong).toEqual([]);
  });

  test('what compiles without Node-API includes nothing that needs it', () => {
    const wrong = native
      .filter(({ path }) => !path.includes('/js/'))
      .filter(({ text }) => /^#include (<napi.h>|"(js|[\w/]+\/js)\/)/m.test(text))
      .map(({ path }) => path);
    expect(wrong).toEqual([]);
  });

  test('no file of the addon asks for its system: the lists do', () => {
    const asking = native.filter(({ text }) => /^\s*#\s*(if|ifdef|elif)\b.*(_WIN32|_WIN64|__linux__|_MSC_VER|__MINGW)/m.test(text));
    expect(asking.map(({ path }) => path)).toEqual([]);
  });
});

describe('a planted violation is found', () => {
  test.each<[rule: string, path: string, text: string, found: string]>([
    ['core imports core only', 'src/core/a.ts', "import { b } from '../errors.js';", 'core may not import ../errors.js'],
    ['core imports no Node module', 'src/core/a.ts', "import 'node:fs';", 'core imports core only, not node:fs'],
    ['core imports no package', 'src/core/a.ts', "import { z } from 'zod';", 'core imports core only, not zod'],
    ['core has no clock', 'src/core/a.ts', 'export const now = () => Date.now();', 'core is pure: no Date.now'],
    ['core has no clock by construction', 'src/core/a.ts', 'export const now = new Date();', 'core is pure: no Date'],
    ['core does not log', 'src/core/a.ts', "console.log('');", 'core is pure: no console.log'],
    ['a type import counts', 'src/host/a.ts', "import type { A } from '../actions/b.js';", 'host may not import ../actions/b.js'],
    [
      'an import() of a type counts',
      'src/host/a.ts',
      "export type A = import('../actions/b.js').A;",
      'host may not import ../actions/b.js',
    ],
    ['a dynamic import counts', 'src/host/a.ts', "await import('../workloads/b.js');", 'host may not import ../workloads/b.js'],
    ['a re-export counts', 'src/metrics/a.ts', "export * from '../host/b.js';", 'metrics may not import ../host/b.js'],
    [
      'an adapter knows the ports, not the loop',
      'src/actions/a.ts',
      "import '../monitor/loop.js';",
      'actions may not import ../monitor/loop.js',
    ],
    [
      'a module whose name begins like an allowed one',
      'src/host/a.ts',
      "import '../monitor/ports2.js';",
      'host may not import ../monitor/ports2.js',
    ],
    ['metrics reads nothing itself', 'src/metrics/a.ts', "import '../native/index.js';", 'metrics may not import ../native/index.js'],
    [
      'the monitor knows no adapter',
      'src/monitor/a.ts',
      "import '../host/linux/meminfo.js';",
      'monitor may not import ../host/linux/meminfo.js',
    ],
    ['nobody below imports compose', 'src/config/a.ts', "import '../compose.js';", 'config may not import ../compose.js'],
    ['a new layer is named in the rule first', 'src/stuff/a.ts', '', 'stuff is no layer'],
    ['the process ends at the edge', 'src/cli/a.ts', 'process.exit(1);', 'process.exit is not allowed here'],
    ['… under another name', 'src/cli/a.ts', "import { exit as leave } from 'node:process';", 'process.exit is not allowed here'],
    ['the platform is chosen once', 'src/host/a.ts', "if (process.platform === 'win32') {}", 'process.platform is not allowed here'],
    ['… by os', 'src/host/a.ts', "import { platform } from 'node:os';", 'os.platform is not allowed here'],
    ['the monitor has the only timers', 'src/actions/a.ts', 'setTimeout(() => {}, 1);', 'setTimeout is not allowed here'],
    [
      '… promised or not',
      'src/actions/a.ts',
      "import { setTimeout } from 'node:timers/promises';",
      'node:timers/promises is not allowed here',
    ],
  ])('%s', (_rule, path, text, found) => {
    expect(violations([{ path, text }])).toContainEqual(expect.stringContaining(`${path}:1: ${found}`));
  });

  test.each<[rule: string, path: string, text: string]>([
    [
      'a property that only bears the name',
      'src/core/a.ts',
      "import type { B } from './b.js'; export const b = (x: B) => ({ process: x.process, Date: 1 });",
    ],
    ['a comment', 'src/core/a.ts', '// not Date.now(), not process.exit()'],
    ['the ports', 'src/host/linux/a.ts', "import type { Node } from '../../monitor/ports.js';"],
    ['the edge', 'src/evictd.ts', 'process.exit(0);'],
    ['the switch', 'src/host/select.ts', 'export const name = process.platform;'],
    ["the loop's timers", 'src/monitor/loop.ts', 'setInterval(() => {}, 1);'],
  ])('%s is none', (_rule, path, text) => {
    expect(violations([{ path, text }])).toEqual([]);
  });

  test('an error code is one only as a whole string', () => {
    expect(errorCodes({ path: 'src/a.ts', text: "f('EVICTD_A_B', `EVICTD_C`, 'see EVICTD_D_E'); process.env.EVICTD_F;" })).toEqual([
      'EVICTD_A_B',
      'EVICTD_C',
    ]);
  });
});

function sorted(values: readonly string[]): string[] {
  return [...new Set(values)].sort();
}
