import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SLOWNESS } from './support/slowness.js';

// What node-gyp makes of binding.gyp where it builds with Microsoft's compiler. That compiler runs on Windows only; its
// project files are written anywhere.

let directory: string;
let project: string;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'evictd-test-vcxproj-'));
  copyFileSync('binding.gyp', join(directory, 'binding.gyp'));
  for (const part of ['native', 'node_modules']) symlinkSync(resolve(part), join(directory, part));
  // It would look for one in the registry.
  writeFileSync(join(directory, 'sdk.gypi'), "{'target_defaults': {'msvs_windows_target_platform_version': '10.0'}}");
  // As in the Makefile.
  const root = resolve(process.execPath, '../..');
  const headers = existsSync(join(root, 'include/node/common.gypi')) ? [`--nodedir=${root}`] : [];
  execFileSync(
    process.execPath,
    [
      resolve('node_modules/node-gyp/bin/node-gyp.js'),
      'configure',
      ...headers,
      '--',
      ...['-DOS=win', '-f', 'msvs', '-G', 'msvs_version=2022', '-I', 'sdk.gypi'],
    ],
    // in UTF-8 gyp writes text to a file of bytes, and fails
    { cwd: directory, env: { ...process.env, LC_ALL: 'en_US.ISO8859-1' }, stdio: 'pipe' },
  );
  project = readFileSync(join(directory, 'build/evictd.vcxproj'), 'utf8');
}, 60_000 * SLOWNESS);

afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** What the settings for a release say, as a list. */
function released(name: string): string[] {
  const settings = /<ItemDefinitionGroup Condition="[^"]*'Release\|[^"]*">([^]*?)<\/ItemDefinitionGroup>/.exec(project)?.[1] ?? '';
  return new RegExp(`<${name}>([^<]*)</${name}>`).exec(settings)?.[1]?.split(/[; ]/) ?? [];
}

const compiled = (): string[] =>
  [...project.matchAll(/<ClCompile Include="([^"]+)">/g)].map(([, path = '']) => path.replaceAll('\\', '/').replace(/^\.\.\//, ''));

const sources = readdirSync('native', { recursive: true, encoding: 'utf8' })
  .map((path) => join('native', path))
  .filter((path) => path.endsWith('.cc') && !path.startsWith('native/test/'));

describe('the project file for Microsoft’s compiler', () => {
  test('has the sources of Windows and those of both systems, and none of Linux', () => {
    const own = sources.filter((path) => !path.includes('/linux/') && path !== 'native/js/windows/delay_load.cc');
    expect(
      compiled()
        .filter((path) => path.startsWith('native/'))
        .sort(),
    ).toEqual(own.sort());
  });

  test('finds Node-API in any program that has loaded the addon, by node-gyp’s hook, before the first call', () => {
    expect(compiled().filter((path) => path.endsWith('/node-gyp/src/win_delay_load_hook.cc'))).toHaveLength(1);
    expect(released('DelayLoadDLLs')).toContain('node.exe');
    expect(released('AdditionalDependencies')).toContain('delayimp.lib');
  });

  test('links the libraries that the build by CMake links', () => {
    const listed = /^if\(WIN32\)[^]*?target_link_libraries\(evictd PRIVATE ([^)]+)\)/m.exec(readFileSync('native/CMakeLists.txt', 'utf8'));
    const libraries = (listed?.[1] ?? '').split(/\s+/).map((name) => `${name}.lib`);
    expect(libraries).toContain('advapi32.lib');
    expect(released('AdditionalDependencies')).toEqual(expect.arrayContaining(libraries));
  });

  test('has exceptions of the language and of its library', () => {
    expect(released('ExceptionHandling')).toEqual(['Sync']);
    expect(released('PreprocessorDefinitions')).toEqual(expect.arrayContaining(['NAPI_CPP_EXCEPTIONS', '_HAS_EXCEPTIONS=1']));
    expect(released('PreprocessorDefinitions')).not.toContain('_HAS_EXCEPTIONS=0');
  });

  test('is for C++17 and Windows 10, and needs no runtime library beside it', () => {
    expect(released('AdditionalOptions')).toContain('/std:c++17');
    expect(released('PreprocessorDefinitions')).toEqual(expect.arrayContaining(['_WIN32_WINNT=0x0A00', 'NAPI_VERSION=8']));
    expect(released('RuntimeLibrary')).toEqual(['MultiThreaded']);
  });
});
