import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PROGRAMS, programOf } from '../../src/launch/program-code.js';

// Which modules dist/program.cjs and dist/check.cjs evaluate (`make test` builds them first). esbuild makes an initialiser of
// each module that is loaded later: `init_NAME=__esm({"src/….ts"(){…}})`. A copy of the program notes the initialisers that
// run; all other modules of its source map always run.

let directory: string;
const always = new Map<string, readonly string[]>();

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'evictd-test-deferred-'));
  for (const name of PROGRAMS) always.set(name, writeNoting(name));
  copyFileSync('dist/evictd.js', join(directory, 'evictd.js'));
  symlinkSync(resolve('dist/prebuilds'), join(directory, 'prebuilds'));
});

/** Writes the copy that notes, and returns the modules that it always evaluates. */
function writeNoting(name: string): readonly string[] {
  const program = readFileSync(`dist/${name}.cjs`, 'utf8').replaceAll('\\\n', ''); // within a string that goes over two lines
  const initialised = new Set([...program.matchAll(/\b__esm\(\s*\{\s*"(src\/[^"]+)"/g)].map(([, path]) => path));
  const { sources } = JSON.parse(readFileSync(`dist/${name}.cjs.map`, 'utf8')) as { readonly sources: readonly string[] };
  const noting = program.replace('=(fn,res,err)=>function __init(){', (head) => `${head}if(fn)note(__getOwnPropNames(fn)[0]);`);
  expect(noting).not.toBe(program);
  const note = "const note = (path) => require('node:fs').appendFileSync(process.env.NOTED, `${path}\\n`);";
  const ofNode = "process.on('exit', () => process.moduleLoadList.filter((each) => each.startsWith('NativeModule ')).forEach(note));";
  writeFileSync(
    join(directory, `${name}.cjs`),
    noting.replace(/^\(function .*\n/, (opening) => `${opening}${note}\n${ofNode}\n`),
  );
  return sources.map((source) => source.replace(/^\.\.\//, '')).filter((path) => path.startsWith('src/') && !initialised.has(path));
}

afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** The modules that a command evaluates: paths, and 'NativeModule crypto'. */
async function evaluated(config: object, args: readonly string[], follow?: (child: ChildProcess) => void): Promise<string[]> {
  const place = mkdtempSync(join(directory, 'run-'));
  const file = join(place, 'config.json');
  writeFileSync(file, JSON.stringify({ runtimeDirectory: place, stateDirectory: place, metrics: { listen: 'off' }, ...config }));
  const child = spawn(process.execPath, [join(directory, 'evictd.js'), ...args, '--config', file], {
    env: { PATH: process.env.PATH, NOTED: join(place, 'noted.txt') },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (output += text.toString()));
  follow?.(child);
  const [code] = (await once(child, 'close')) as [number | null];
  expect([0, 1, 2], output).toContain(code);
  return [...(always.get(programOf(args)) ?? []), ...readFileSync(join(place, 'noted.txt'), 'utf8').split('\n')];
}

const WINDOWS = /^src\/((host|workloads|evict)\/windows\/|(cli|compose|features)\/(.*\/)?windows)/;
const SYSTEMD = 'src/host/linux/systemd/';
const CRI = 'src/host/linux/cri/';
const DOCTOR = 'src/host/linux/facts/';
const OTHER_COMMANDS = /^src\/(kubernetes|monitor|evict|journal|metrics|recording|features\/(?!check\/)[^/]+)\//;

test.runIf(process.platform === 'linux')('check evaluates no module of Windows, systemd, CRI, doctor or another command', async () => {
  const modules = await evaluated({}, ['check']);
  expect(modules).toContain('src/host/linux/node.ts');
  const superfluous = modules.filter(
    (path) => [SYSTEMD, CRI, DOCTOR].some((area) => path.startsWith(area)) || WINDOWS.test(path) || OTHER_COMMANDS.test(path),
  );
  expect(superfluous).toEqual([]);
  expect(modules).toContain('NativeModule fs');
  // Each takes 1 to 3 ms.
  const slow = ['crypto', 'child_process', 'fs/promises', 'module'].map((name) => `NativeModule ${name}`);
  expect(modules.filter((path) => slow.includes(path))).toEqual([]);
});

test.runIf(process.platform === 'linux')('rank evaluates CRI where the configuration names a container runtime', async () => {
  const modules = await evaluated({ workloads: [{ cri: { endpoint: 'unix:///run/evictd-test-nowhere.sock' } }] }, ['rank']);
  expect(modules.filter((path) => path.startsWith(CRI))).toContain('src/host/linux/cri/container-runtime.ts');
  expect(modules.filter((path) => WINDOWS.test(path))).toEqual([]);
});

/** `evictd run`, until it has started. */
const startedWith = (config: object): Promise<string[]> =>
  evaluated(config, ['run', '--dry-run'], (child) => {
    child.stderr?.on('data', (text: Buffer) => {
      if (text.includes('makes a dry run')) child.kill('SIGTERM');
    });
  });

test.runIf(process.platform === 'linux')(
  'run evaluates no module of Windows, and none of hooks and notifications that are not configured',
  async () => {
    const modules = await startedWith({});
    expect(modules).toContain('src/compose/guard.ts');
    expect(modules.filter((path) => WINDOWS.test(path))).toEqual([]);
    expect(modules.filter((path) => /^src\/features\/(hooks|notify)\//.test(path))).toEqual([]);
    // The control socket, without a client.
    expect(modules).toContain('src/http/listener.ts');
    expect(modules.filter((path) => /^NativeModule (http|_http_\w+)$|^src\/(http\/bounded|features\/status\/status)/.test(path))).toEqual(
      [],
    );
  },
);

test("of prom-client the program has nothing that loads Node's cluster or performance hooks", () => {
  const program = readFileSync('dist/program.cjs', 'utf8');
  expect(program).toMatch(/\bHistogram\b/);
  expect(program.match(/\brequire\("(node:)?(cluster|perf_hooks)"\)/g)).toBeNull();
});

test.runIf(process.platform === 'linux')('run evaluates the modules of policies only where the configuration has one', async () => {
  const READS_OR_DOES = ['policy-reader', 'ladder-actions'].map((name) => `src/features/policy/${name}.ts`);
  const of = (modules: readonly string[]): string[] => READS_OR_DOES.filter((path) => modules.includes(path));
  expect(of(await startedWith({}))).toEqual([]);
  const policies = [{ name: 'low', when: 'memory.available < 1Mi', then: ['notify'] }];
  expect(of(await startedWith({ policies }))).toEqual(READS_OR_DOES);
});
