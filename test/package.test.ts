import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PROGRAM_FILES } from '../packaging/bundles.js';
import { faultsOf } from '../packaging/prebuilds.js';
import { releaseOf } from '../packaging/release.js';

// What a user gets: the tarball, installed without network on a machine that has node and npm and nothing else: no
// compiler, make or python.

interface Manifest {
  readonly version: string;
  readonly gypfile?: boolean;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

const platform = `${process.platform}-${process.arch}`;
let directory: string;
let installed: string;
let files: readonly string[];
let manifest: Manifest;

const run = (command: string, ...args: string[]) =>
  execFileSync(command, args, {
    cwd: join(directory, 'project'),
    encoding: 'utf8',
    env: { PATH: join(directory, 'bin'), HOME: directory, npm_config_offline: 'true', npm_config_update_notifier: 'false' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'evictd-test-package-'));
  mkdirSync(join(directory, 'bin'));
  mkdirSync(join(directory, 'project'));
  symlinkSync(process.execPath, join(directory, 'bin/node'));
  symlinkSync(realpathSync(onPath('npm')), join(directory, 'bin/npm'));
  writeFileSync(join(directory, 'project/package.json'), '{ "private": true }');

  // dist/ is there (make test builds first); prepack would build it again, for a release.
  run('npm', 'pack', resolve('.'), '--ignore-scripts', '--silent', '--pack-destination', directory);
  manifest = JSON.parse(readFileSync('package.json', 'utf8')) as Manifest;
  run('npm', 'install', '--no-audit', '--no-fund', join(directory, `evictd-${manifest.version}.tgz`));

  installed = join(directory, 'project/node_modules/evictd');
  manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as Manifest;
  files = ts.sys.readDirectory(installed, undefined, undefined, ['**/*']).map((file) => file.slice(installed.length + 1));
}, 120_000);

afterAll(() => rmSync(directory, { recursive: true, force: true }));

describe('the npm tarball', () => {
  test.each([
    'dist/evictd.js',
    ...PROGRAM_FILES.map((file) => `dist/${file}`),
    'dist/program-code.js',
    'dist/index.mjs',
    'dist/package.json',
    'dist/status-page.json',
    'dist/man/evictd.8',
    'dist/man/evictd.yaml.5',
    'dist/completion/evictd.bash',
    'dist/evictd.schema.json',
    'examples/server.yaml',
    `dist/prebuilds/${platform}/evictd.node`,
    'dist/types/index.d.ts',
    'dist/types/package.json',
    'dist/types/native/binding.d.ts',
    'dist/THIRD-PARTY-LICENSES.txt',
    'docs/errors.md',
    'LICENSE',
    'README.md',
    'CHANGELOG.md',
  ])('has %s', (file) => {
    expect(files).toContain(file);
  });

  test('has no sources, no tests and no build description', () => {
    const allowed =
      /^(dist\/|docs\/|examples\/|packaging\/(grafana|icinga2|kubernetes|nagios|prometheus)\/|package\.json$|LICENSE$|README\.md$|CHANGELOG\.md$)/;
    expect(files.filter((file) => !allowed.test(file) || /\.(cc|h|gypi?|o|tgz)$|(?<!\.d)\.ts$|\.test\./.test(file))).toEqual([]);
  });

  test('is for every system that has an addon in it', () => {
    expect(manifest.os).toEqual(['linux', 'win32']);
  });

  test('has no code that a Node has compiled', () => {
    expect(files.filter((file) => file.endsWith('.cache'))).toEqual([]);
  });

  test('runs no script when it is installed', () => {
    const scripts = Object.keys(manifest.scripts ?? {});
    expect(scripts.filter((script) => /^(pre|post)?(install|prepare)$/.test(script))).toEqual([]);
    expect(manifest.gypfile).toBe(false);
  });

  test.each(['dependencies', 'optionalDependencies', 'peerDependencies', 'bundleDependencies'])('has no %s', (field) => {
    expect(manifest[field] ?? {}).toEqual({});
  });

  test('has the licence of every package that is in it', () => {
    const notices = readFileSync(join(installed, 'dist/THIRD-PARTY-LICENSES.txt'), 'utf8');
    const bundled = ['evictd.js', 'index.mjs', ...PROGRAM_FILES]
      .flatMap((file) => (JSON.parse(readFileSync(`dist/${file}.map`, 'utf8')) as { readonly sources: readonly string[] }).sources)
      .flatMap((source) => /^.*node_modules\/((?:@[^/]+\/)?[^/.@][^/]*)\//.exec(source)?.[1] ?? []);
    const named = (name: string) => notices.split('\n').some((line) => line.startsWith(`${name} `));
    expect(bundled).toContain('commander');
    expect(['node-addon-api', ...new Set(bundled)].filter((name) => !named(name))).toEqual([]);
  });
});

describe('the package installed without a compiler', () => {
  test.each(['make', 'g++', 'cc', 'python3', 'sh'])('%s is not on the PATH of this test', (command) => {
    expect(() => run(command, '--version')).toThrow('ENOENT');
  });

  test('has a command that prints its version', () => {
    expect(run(join(directory, 'project/node_modules/.bin/evictd'), '--version').trim()).toBe(manifest.version);
  });

  test('has an addon that loads', () => {
    const script = `console.log(typeof require('./node_modules/evictd/dist/prebuilds/${platform}/evictd.node').MemcgThreshold)`;
    expect(run('node', '-e', script).trim()).toBe('function');
  });

  test('has a library that loads', () => {
    const script = "import('evictd').then((library) => console.log(Object.keys(library).length))";
    expect(Number(run('node', '-e', script))).toBeGreaterThan(0);
  });

  test('has declarations that need no other package than Node’s', () => {
    const program = ts.createProgram([join(installed, 'dist/types/index.d.ts')], {
      noEmit: true,
      strict: true,
      module: ts.ModuleKind.NodeNext,
      moduleResolution: ts.ModuleResolutionKind.NodeNext,
      target: ts.ScriptTarget.ES2023,
      types: ['node'],
      typeRoots: [resolve('node_modules/@types')],
    });
    const own = program.getSourceFiles().filter(({ fileName }) => fileName.startsWith(installed));
    const wrong = own.flatMap((file) => program.getSemanticDiagnostics(file));
    expect(own.length).toBeGreaterThan(0);
    expect(wrong.map(({ file, messageText }) => `${file?.fileName ?? ''}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`)).toEqual(
      [],
    );
  });
});

describe('the check of a release', () => {
  test('accepts the files that npm packs', () => {
    expect((JSON.parse(readFileSync('package.json', 'utf8')) as Manifest).scripts?.prepack).toBe('make release');
  });

  const elf = (machine: number): Buffer => Buffer.from([0x7f, ...Buffer.from('ELF'), ...Array<number>(14).fill(0), machine, 0]);
  const pe = (machine: number, more = ''): Buffer => {
    const header = Buffer.alloc(0x48);
    header.write('MZ');
    header.writeUInt32LE(0x40, 0x3c);
    header.write('PE', 0x40);
    header.writeUInt16LE(machine, 0x44);
    return Buffer.concat([header, Buffer.from(more)]);
  };
  const [x64, arm64, windows] = [elf(62), elf(183), pe(0x8664)];
  test.each<[rule: string, addons: Readonly<Record<string, Buffer>>, faults: RegExp[]]>([
    ['an addon for each platform', {}, []],
    ['one addon is missing', { 'linux-arm64': Buffer.alloc(0) }, [/linux-arm64.*no ELF/]],
    ['one addon is for another processor', { 'linux-arm64': x64 }, [/linux-arm64.*machine 62, not 183/]],
    ['the addon of Windows is for another processor', { 'win32-x64': pe(0xaa64) }, [/win32-x64.*machine 43620, not 34404/]],
    ['one addon is for another system', { 'linux-x64': windows, 'win32-x64': x64 }, [/linux-x64.*no ELF/, /win32-x64.*no PE/]],
    ['one addon is truncated', { 'linux-x64': x64.subarray(0, 19), 'win32-x64': windows.subarray(0, 0x45) }, [/no ELF/, /no PE/]],
    ['the addon of Windows needs the compiler’s library', { 'win32-x64': pe(0x8664, 'libstdc++-6.dll\0') }, [/needs libstdc\+\+-6\.dll/]],
    [
      'no file is an addon',
      { 'linux-x64': Buffer.from('#!/bin/sh'), 'win32-x64': Buffer.from('MZ') },
      [/linux-x64.*no ELF/, /win32-x64.*no PE/],
    ],
  ])('%s', (_rule, addons, faults) => {
    const prebuilds = mkdtempSync(join(directory, 'prebuilds-'));
    for (const [name, bytes] of Object.entries({ 'linux-x64': x64, 'linux-arm64': arm64, 'win32-x64': windows, ...addons })) {
      mkdirSync(join(prebuilds, name));
      if (bytes.length > 0) writeFileSync(join(prebuilds, name, 'evictd.node'), bytes);
    }
    expect(faultsOf(prebuilds)).toEqual(faults.map((fault) => expect.stringMatching(fault) as string));
  });

  const WHAT = 'win32-x64 cannot be built here';
  test.each<[rule: string, installed: string[], present: string[], platforms: string[], missing: string[]]>([
    ['all compilers are there', ['aarch64-linux-gnu-g++', 'x86_64-w64-mingw32-g++-posix', 'cmake'], [], ['linux-arm64', 'win32-x64'], []],
    [
      'a compiler is missing: named, with the package to install',
      ['aarch64-linux-gnu-g++', 'cmake'],
      [],
      ['linux-arm64'],
      [`${WHAT}, the package has no addon for it; install its compiler (Debian: apt-get install g++-mingw-w64-x86-64-posix cmake)`],
    ],
    ['an addon that was built on another machine is packed', [], ['win32-x64'], ['win32-x64'], [`${WHAT}, the addon that is there`]],
  ])('finds a release that is built for this machine and for: %s', (_rule, compilers, present, platforms, missing) => {
    const release = releaseOf(
      'linux-x64',
      (command) => compilers.includes(command),
      (other) => present.includes(other),
    );
    expect(release.platforms).toEqual(['linux-x64', ...platforms]);
    const named = release.missing.filter((sentence) => sentence.startsWith('win32'));
    expect(named).toEqual(missing.map((sentence) => expect.stringContaining(sentence) as string));
    expect(release.targets).toEqual([
      'prebuild',
      ...(compilers.includes('cmake') ? platforms.map((each) => `prebuild-${each === 'win32-x64' ? 'windows' : 'arm64'}`) : []),
      'bundle',
    ]);
  });

  test('accepts the addon that was built here', () => {
    expect(faultsOf('dist/prebuilds').filter((fault) => fault.includes(platform))).toEqual([]);
  });
});

function onPath(command: string): string {
  return execFileSync('/bin/sh', ['-c', `command -v ${command}`], { encoding: 'utf8' }).trim();
}
