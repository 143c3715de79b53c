import { existsSync, mkdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import type { PresentWorkload } from '../../../../src/config/lint/machine.js';
import { detectedProfile } from '../../../../src/features/install/profile/detected-profile.js';
import { initCommand, type InitDeps } from '../../../../src/features/install/profile/init-command.js';
import { ran, type Ran } from '../../../cli/support.js';
import { load, scratch } from '../../../config/scratch.js';

const PRESENT: readonly PresentWorkload[] = [
  { name: 'web.service', path: '/system.slice/web.service', matched: [], unevictable: undefined },
  { name: 'db.service', path: '/system.slice/db.service', matched: [], unevictable: { kind: 'critical', text: 'critical' } },
  { name: 'old.service', path: '/system.slice/old.service', matched: [], unevictable: { kind: 'vacant', text: 'no process' } },
];

const server: InitDeps['detect'] = () => ({ profile: 'server', because: 'nothing else is there', endpoint: undefined });

function init(args: readonly string[], deps: Partial<InitDeps> = {}): Promise<Ran> {
  const workloads = (): Promise<readonly PresentWorkload[]> => Promise.resolve(PRESENT);
  return ran((io) => initCommand({ io, detect: server, ask: undefined, workloads, ...deps }), args);
}

test('init without a terminal writes the detected profile, and shows what it would evict', async () => {
  const file = join(scratch(), 'etc/config.yaml');
  const { out, error } = await init(['--config', file]);
  expect(error).toBeUndefined();
  expect(out).toBe(`profile server: nothing else is there
wrote ${file}

may be evicted (1): web.service
protected (1): db.service (critical)

next:
  evictd config check --config ${file}
  evictd run --dry-run --config ${file}
`);
  const text = readFileSync(file, 'utf8');
  expect(text).toMatch(/^# yaml-language-server: \$schema=\/.*\/evictd\.schema\.json\n# evictd on a machine of the profile server/);
  expect(load({ 'config.yaml': text }).config.workloads).toEqual([{ systemd: { slices: ['system.slice'], units: [] } }]);
});

test('init says that no workload exists instead of printing two empty lists', async () => {
  const { out } = await init(['--config', join(scratch(), 'config.yaml')], { workloads: () => Promise.resolve([]) });
  expect(out).toMatch(/\n\nnothing may be evicted: no workload of this configuration exists now \(evictd config check says why\)\n\nnext:/);
});

test.each<[rule: string, answers: string[], profile: string]>([
  ['an empty answer is the detected profile', [''], 'server'],
  ['a name', ['desktop'], 'desktop'],
  ['the beginning of a name, in capitals, is accepted', ['K'], 'kubelet'],
  ['init asks again after another answer', ['mainframe', 'containers'], 'containers'],
])('init on a terminal asks for the profile: %s', async (_rule, answers, profile) => {
  const file = join(scratch(), 'config.yaml');
  const left = [...answers];
  await init(['--config', file], { ask: () => Promise.resolve(left.shift() ?? '') });
  expect(readFileSync(file, 'utf8')).toContain(`of the profile ${profile}.`);
  expect(left).toEqual([]);
});

test('init does not ask if the profile is given', async () => {
  const file = join(scratch(), 'config.yaml');
  const ask = (): never => expect.unreachable('asked');
  const { out } = await init(['--profile', 'desktop', '--config', file], { ask });
  expect(readFileSync(file, 'utf8')).toContain('of the profile desktop.');
  expect(out).toMatch(/^wrote /);
});

test('init overwrites a file only with --force', async () => {
  const file = join(scratch(), 'config.yaml');
  writeFileSync(file, 'mine');
  expect((await init(['--config', file])).error).toMatchObject({ code: 'EVICTD_INSTALL_EXISTS', message: `${file} exists` });
  expect(readFileSync(file, 'utf8')).toBe('mine');
  expect((await init(['--config', file, '--force'])).error).toBeUndefined();
  expect(readFileSync(file, 'utf8')).toContain('of the profile server.');
});

test('init overwrites neither a dangling link nor a file that was made while the question was open', async () => {
  const directory = scratch();
  const [link, late] = [join(directory, 'link.yaml'), join(directory, 'late.yaml')];
  symlinkSync('nowhere', link);
  expect((await init(['--config', link])).error).toMatchObject({ code: 'EVICTD_INSTALL_EXISTS' });
  expect(readlinkSync(link)).toBe('nowhere');
  const ask = (): Promise<string> => {
    writeFileSync(late, 'mine');
    return Promise.resolve('');
  };
  expect((await init(['--config', late], { ask })).error).toMatchObject({ code: 'EVICTD_INSTALL_EXISTS' });
  expect(readFileSync(late, 'utf8')).toBe('mine');
});

test('init writes the file on a machine that cannot be read, and shows the reason', async () => {
  const file = join(scratch(), 'config.yaml');
  const { out } = await init(['--config', file], { workloads: () => Promise.reject(new Error('no cgroup filesystem')) });
  expect(out).toContain('\ncannot list what this profile would evict: no cgroup filesystem\n');
  expect(existsSync(file)).toBe(true);
});

test.each<[what: string, paths: string[], profile: string, endpoint: string | undefined]>([
  ['nothing', [], 'server', undefined],
  [
    'a kubelet with containerd',
    ['var/lib/kubelet/config.yaml', 'run/containerd/containerd.sock'],
    'kubelet',
    'unix:///run/containerd/containerd.sock',
  ],
  ['CRI-O', ['run/crio/crio.sock'], 'containers', 'unix:///run/crio/crio.sock'],
  ['Docker alone', ['run/docker.sock'], 'containers', undefined],
  ['a display manager', ['etc/systemd/system/display-manager.service'], 'desktop', undefined],
])('init detects %s', (_what, paths, profile, endpoint) => {
  const root = scratch();
  for (const path of paths) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), '');
  }
  expect(detectedProfile(root)).toMatchObject({ profile, endpoint });
});

test('init detects a graphical target', () => {
  const root = scratch();
  mkdirSync(join(root, 'etc/systemd/system'), { recursive: true });
  symlinkSync('/lib/systemd/system/graphical.target', join(root, 'etc/systemd/system/default.target'));
  expect(detectedProfile(root).profile).toBe('desktop');
});
