import { copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addonPath } from '../../src/native/index.js';
import { eventually } from '../support/eventually.js';
import { native } from './native.js';
import { spawnSync } from './spawn.js';

const root = join(process.env.ProgramFiles ?? 'C:\\Program Files', `evictd-test-${String(process.pid)}`);
const programData = mkdtempSync(join(tmpdir(), 'evictd-test-'));
const data = join(programData, 'evictd');
const configFile = join(data, 'config.yaml');
const logFile = join(data, 'evictd.log');
const [node, program] = [join(root, 'node.exe'), join(root, 'dist', 'evictd.js')];

interface Ran {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function evictd(...args: readonly string[]): Ran {
  const { status, stdout, stderr } = spawnSync(node, [program, ...args], {
    encoding: 'utf8',
    env: { ...process.env, ProgramData: programData },
  });
  return { status, stdout, stderr };
}

const service = (): ReturnType<typeof native.services>[number] | undefined =>
  native.services().find(({ name }) => name.toLowerCase() === 'evictd');
const log = (): string => (existsSync(logFile) ? readFileSync(logFile, 'utf8') : '');

beforeAll(() => {
  const prebuild = join(root, 'dist', 'prebuilds', 'win32-x64', 'evictd.node');
  mkdirSync(dirname(prebuild), { recursive: true });
  copyFileSync(process.execPath, node);
  copyFileSync(addonPath, prebuild);
  for (const file of ['package.json', 'evictd.js', 'program.cjs', 'check.cjs']) cpSync(resolve('dist', file), join(root, 'dist', file));
  mkdirSync(data);
  const directories = { stateDirectory: join(data, 'state'), runtimeDirectory: join(data, 'run') };
  writeFileSync(configFile, JSON.stringify({ ...directories, evictionHard: { 'memory.available': '1Mi' }, metrics: { listen: 'off' } }));
});

afterAll(() => {
  evictd('uninstall');
  rmSync(root, { recursive: true, force: true });
  rmSync(programData, { recursive: true, force: true });
});

test('after the installation the service manager starts evictd, stops it, and sees it stopped (manager of Wine)', async () => {
  // The file is older than the service: any user may have written it.
  const refused = evictd('install', '--now');
  expect(refused.status).toBe(1);
  expect(refused.stderr).toContain('EVICTD_INSTALL_UNSAFE');
  expect(service()).toBeUndefined();
  const installed = evictd('install', '--now', '--config', configFile);
  expect(installed).toMatchObject({ status: 0, stderr: '' });
  expect(installed.stdout).toContain(`keep    ${configFile} (your configuration)`);
  await eventually('the service runs', () => service()?.state === 'running', { ms: 30_000, circumstances: log });
  await eventually('the log has what it guards', () => log().includes('guards node machine:'), { ms: 30_000, circumstances: log });
  const doctor = JSON.parse(evictd('doctor', '-o', 'json').stdout) as {
    readonly checks: readonly { readonly id: string; readonly status: string }[];
  };
  const seen = new Map(doctor.checks.map(({ id, status }) => [id, status]));
  expect([seen.get('service.manager'), seen.get('service.instance')]).toEqual(['ok', 'ok']);

  native.stopService('evictd');
  await eventually('the service has stopped', () => service()?.state === 'stopped', { ms: 30_000, circumstances: log });
  expect(log()).toMatch(/stopped\s*$/);

  expect(evictd('uninstall').status).toBe(0);
  await eventually('the service is gone', () => service() === undefined);
  expect(existsSync(configFile)).toBe(true);
});

test('the log has the reason of a failed start', async () => {
  writeFileSync(configFile, 'evictionHard: 5\n');
  const { status } = evictd('run', '--config', configFile, '--log-file', logFile);
  expect(status).toBe(78);
  await eventually('the log has the error code', () => log().includes('EVICTD_CONFIG'));
});
