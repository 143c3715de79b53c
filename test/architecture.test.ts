import { readFileSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { cycles, errorCodes, importGraph, longFunctions, moduleOf, reachable, violations, type SourceText } from './architecture.js';
import { layerText, partOf } from './layers.js';

const filesBelow = (root: string, ...extensions: string[]): SourceText[] =>
  readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && extensions.some((extension) => entry.name.endsWith(extension)))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
    .map((path) => ({ path, text: readFileSync(path, 'utf8') }));

const source = filesBelow('src', '.ts');
const native = filesBelow('native', '.cc', '.h');
const graph = importGraph(source);

const MAX_FILES = 15;
const MAX_LINES = 60;

describe('the tree', () => {
  test('every import and global follows the dependency rule', () => {
    expect(violations(source)).toEqual([]);
  });

  test('docs/architecture.md has what the layers do and may import', () => {
    const [, written] = /<!-- layers -->\n([^]*)\n<!-- \/layers -->/.exec(readFileSync('docs/architecture.md', 'utf8')) ?? [];
    expect(written).toBe(layerText());
  });

  test('no module imports itself by way of others, types included', () => {
    expect(cycles(graph)).toEqual([]);
  });

  test('the program, the library, the status page or the packaging reaches every module', () => {
    const packaging = filesBelow('packaging', '.ts').flatMap(({ text }) => text.match(/(?<=src\/)[\w/-]+(?=\.js')/g) ?? []);
    const launch = [...graph.keys()].filter((module) => module.startsWith('launch/'));
    const found = reachable(graph, ['index', 'page/main', ...launch, ...packaging]);
    const declaresPackage = new Set(source.filter(({ text }) => /^declare module '[^.]/m.test(text)).map(({ path }) => moduleOf(path)));
    expect([...graph.keys()].filter((module) => !found.has(module) && !declaresPackage.has(module))).toEqual([]);
  });

  test('no folder has more than 15 files', () => {
    const folders = groups(
      source.map(({ path }) => path),
      dirname,
    );
    expect(
      folders.filter((files) => files.length > MAX_FILES).map((files) => `${dirname(files[0] ?? '')}: ${String(files.length)}`),
    ).toEqual([]);
  });

  test('base names are unique within a layer and within a feature', () => {
    const modules = source.map(({ path }) => moduleOf(path)).filter((module) => !/^features\/.*\/(open|command)$/.test(module));
    const named = groups(modules, (module) => `${partOf(module)}: ${basename(module)}`);
    expect(named.filter((same) => same.length > 1)).toEqual([]);
  });

  test('no function is longer than 60 lines', () => {
    expect(longFunctions(source, MAX_LINES)).toEqual({});
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

  test('a union of literals, and no enum', () => {
    expect(source.filter(({ text }) => /^\s*(export |declare |const )*enum \w/m.test(text)).map(({ path }) => path)).toEqual([]);
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
    ['a type import counts', 'src/host/a.ts', "import type { A } from '../evict/b.js';", 'host may not import ../evict/b.js'],
    ['an import() of a type counts', 'src/host/a.ts', "export type A = import('../evict/b.js').A;", 'host may not import ../evict/b.js'],
    ['a dynamic import counts', 'src/host/a.ts', "await import('../workloads/b.js');", 'host may not import ../workloads/b.js'],
    ['a re-export counts', 'src/metrics/a.ts', "export * from '../host/b.js';", 'metrics may not import ../host/b.js'],
    [
      'an adapter knows the ports, not the loop',
      'src/evict/a.ts',
      "import '../monitor/loop.js';",
      'evict may not import ../monitor/loop.js',
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
    [
      'a lower layer does not import compose',
      'src/config/a.ts',
      "import '../compose/guard.js';",
      'config may not import ../compose/guard.js',
    ],
    ['a feature imports no other', 'src/features/disk/a.ts', "import '../oom/b.js';", 'features/* may not import ../oom/b.js'],
    [
      'a pure module of a feature',
      'src/features/rank/oom-comparison.ts',
      "import '../../log/log.js';",
      'features/* may not import ../../log/log.js',
    ],
    [
      'a pure module of a feature has no clock',
      'src/features/rank/oom-comparison.ts',
      'Date.now();',
      'features/rank/oom-comparison is pure: no Date.now',
    ],
    ['a new layer is named in the rule first', 'src/stuff/a.ts', '', 'stuff is no layer'],
    ['the process ends at the edge', 'src/cli/a.ts', 'process.exit(1);', 'process.exit is not allowed here'],
    [
      'the process ends at the edge under another name',
      'src/cli/a.ts',
      "import { exit as leave } from 'node:process';",
      'process.exit is not allowed here',
    ],
    ['the platform is chosen once', 'src/host/a.ts', "if (process.platform === 'win32') {}", 'process.platform is not allowed here'],
    ['the platform is chosen once by os', 'src/host/a.ts', "import { platform } from 'node:os';", 'os.platform is not allowed here'],
    ['the monitor has the only timers', 'src/evict/a.ts', 'setTimeout(() => {}, 1);', 'setTimeout is not allowed here'],
    [
      'the monitor has the only timers, promised or not',
      'src/evict/a.ts',
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
    ['a key of a pattern', 'src/core/a.ts', "import type { B } from './b.js'; export const b = ({ process: one }: B) => one;"],
    ['a comment', 'src/core/a.ts', '// not Date.now(), not process.exit()'],
    ['the ports', 'src/host/linux/a.ts', "import type { Node } from '../../monitor/ports/ports.js';"],
    ['the edge', 'src/evictd.ts', 'process.exit(0);'],
    ['the switch', 'src/host/select.ts', 'export const name = process.platform;'],
    ["the loop's timers", 'src/monitor/loop.ts', 'setInterval(() => {}, 1);'],
  ])('%s is not an error code', (_rule, path, text) => {
    expect(violations([{ path, text }])).toEqual([]);
  });

  test('modules that import each other are found', () => {
    const files = [
      { path: 'src/core/a.ts', text: "import type { B } from './b.js';" },
      { path: 'src/core/b.ts', text: "export * from './c.js';" },
      { path: 'src/core/c.ts', text: "export type A = import('./a.js').A;" },
      { path: 'src/core/d.ts', text: "import './a.js';" },
    ];
    expect(cycles(importGraph(files))).toEqual([['core/a', 'core/b', 'core/c']]);
  });

  test('a function that is too long is found', () => {
    const text = `class A {\n  b() {\n    c();\n  }\n}\nconst d = () => 1;`;
    expect(longFunctions([{ path: 'src/a.ts', text }], 2)).toEqual({ 'src/a.ts b': 3 });
  });

  test('an error code is recognised only as a whole string', () => {
    expect(errorCodes({ path: 'src/a.ts', text: "f('EVICTD_A_B', `EVICTD_C`, 'see EVICTD_D_E'); process.env.EVICTD_F;" })).toEqual([
      'EVICTD_A_B',
      'EVICTD_C',
    ]);
  });
});

function sorted(values: readonly string[]): string[] {
  return [...new Set(values)].sort();
}

/** Lists of the values that have the same key. */
function groups(values: readonly string[], keyOf: (value: string) => string): string[][] {
  const found = new Map<string, string[]>();
  for (const value of values) found.set(keyOf(value), [...(found.get(keyOf(value)) ?? []), value]);
  return [...found.values()];
}
