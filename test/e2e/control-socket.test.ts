import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, statSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { StatusDocument } from '../../src/features/status/status-document.js';
import { instanceName } from '../../src/host/instance-lock.js';
import { contradictions, documentedOperations } from '../support/json-schema.js';
import { temporaryDirectory } from '../support/temporary-directory.js';
import { evictd as runEvictd, Evictd, EVICTD, scratchDirectory } from './evictd.js';
import { guarding, ON, testNode, workload } from './node.js';

/** As another user, with a copy of the configuration that everyone may read. */
function asUser(evictd: Evictd, gid: number, ...args: readonly string[]) {
  const readable = temporaryDirectory('/dev/shm');
  const file = join(readable, 'config.yaml');
  cpSync(evictd.configFile, file);
  chmodSync(readable, 0o755);
  chmodSync(file, 0o644);
  const {
    status: code,
    stdout,
    stderr,
  } = spawnSync(process.execPath, [EVICTD, ...args, '--config', file], { uid: 65534, gid, encoding: 'utf8' });
  return { code, stdout, stderr };
}

const ask = (socketPath: string, path = '/api/v1/status'): Promise<{ status: number | undefined; document: StatusDocument }> =>
  new Promise((resolve, reject) => {
    request({ socketPath, path, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => (text += part));
      response.on('end', () => resolve({ status: response.statusCode, document: JSON.parse(text) as StatusDocument }));
    })
      .on('error', reject)
      .end();
  });

test(`the status before, during and after an eviction (${ON})`, async () => {
  const node = testNode();
  const batch = await workload(node.child('batch'), { growsMib: 140, onTerm: 'ignore' });
  await workload(node.child('web'), { holdsMib: 10, onTerm: 'exit' });
  const config = {
    ...guarding(node),
    evictionHard: { 'memory.available': '8Mi' },
    evictionSoft: { 'memory.available': '384Mi' },
    evictionSoftGracePeriod: { 'memory.available': '100ms' },
    evictionMaxPodGracePeriod: 30,
    monitoringInterval: '200ms',
  };
  const evictd = await new Evictd({ config }).guarding();
  const socket = join(evictd.directory, 'run', `${instanceName({ cgroup: node.path })}.sock`);
  expect(statSync(socket).mode & 0o777).toBe(0o600);

  const { status, document: before } = await ask(socket);
  expect(status).toBe(200);
  expect(contradictions('Status', before)).toEqual([]);
  expect(before).toMatchObject({ evictd: { pid: evictd.pid, dryRun: false }, node: { cgroup: node.path }, evictions: [] });
  expect(before.candidates.workloads.map(({ name }) => name)).toEqual(['web', 'batch']);
  expect(before.decisions.map(({ type }) => type)).toEqual(['start']);

  batch.grow();
  await evictd.recorded('decision');
  const { document: during } = await ask(socket);
  expect(contradictions('Status', during)).toEqual([]);
  expect(during.evictions).toMatchObject([{ decision: 1, name: 'batch', phase: 'terminating' }]);
  expect(during.decisions[0]).toMatchObject({ type: 'decision', decision: 1 });
  expect(during.conditions).toContainEqual({ type: 'MemoryPressure', status: 'True', clearsInSeconds: null });

  const shown = await runEvictd('status', '--config', evictd.configFile);
  expect(shown).toMatchObject({ code: 0, stdout: expect.stringMatching(/^eviction 1 of batch: terminating for /m) as string });

  const explained = await ask(socket, '/api/v1/explain?workload=web');
  expect(contradictions('Explanation', explained.document)).toEqual([]);
  expect(explained.document).toMatchObject({ source: 'evictd', workload: { name: 'web' } });
  expect((await runEvictd('explain', 'batch', '--config', evictd.configFile)).stdout).toContain('as the running evictd sees it\n');

  for (const command of ['status', 'explain']) {
    const { code, stderr } = asUser(evictd, 65534, command);
    const refused = `evictd: EVICTD_CONTROL_ACCESS: only root and the members of controlSocket.group may ask evictd on ${socket}: permission denied\n  hint: run it as root; evictd check`;
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(refused) as string });
  }

  const nothing = await ask(socket, '/nothing');
  const { hint } = (nothing.document as unknown as { readonly error: { readonly hint: string } }).error;
  const served = hint.replace('there is ', '').split(', ');
  expect([nothing.status, served.sort()]).toEqual([404, [...documentedOperations()].sort()]);
  expect(await evictd.stop()).toBe(0);
  const alone = await runEvictd('status', '--config', evictd.configFile);
  expect(alone.stdout).toContain(`no evictd guards this node (${node.path}): values are read now\n`);
  expect(alone.stdout).toMatch(/ batch +0 /);
  expect(existsSync(socket)).toBe(false);
});

test(`the socket of a killed evictd is replaced, and a dry run has its own (${ON})`, async () => {
  const node = testNode();
  const directory = scratchDirectory();
  const socket = join(directory, 'run', `${instanceName({ cgroup: node.path })}.sock`);
  const killed = await new Evictd({ config: guarding(node), directory }).guarding();
  killed.child.kill('SIGKILL');
  await killed.exited();
  expect(existsSync(socket)).toBe(true);

  const evictd = await new Evictd({ config: guarding(node), directory }).guarding();
  const dryRun = await new Evictd({ config: guarding(node), directory, args: ['--dry-run'] }).guarding();
  expect((await ask(socket)).document.evictd).toMatchObject({ pid: evictd.pid, dryRun: false });
  const own = join(directory, 'run', `${instanceName({ cgroup: node.path }, true)}.sock`);
  expect((await ask(own)).document.evictd).toMatchObject({ pid: dryRun.pid, dryRun: true });
});

test(`the members of a group may do what root may, and no other user (${ON})`, async () => {
  const node = testNode();
  const batch = await workload(node.child('batch'), { onTerm: 'exit' });
  const GID = 47_110;
  const directory = scratchDirectory();
  chmodSync(directory, 0o711);
  const evictd = await new Evictd({ config: { ...guarding(node), controlSocket: { group: GID } }, directory }).guarding();
  await evictd.until('the socket is open to the group', () => {
    const { mode, gid } = statSync(join(directory, 'run', `${instanceName({ cgroup: node.path })}.sock`));
    return (mode & 0o777) === 0o660 && gid === GID;
  });
  const { mode, gid } = statSync(join(directory, 'run'));
  expect([mode & 0o777, gid]).toEqual([0o710, GID]);
  expect(asUser(evictd, 65534, 'evict', 'batch')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('EVICTD_CONTROL_ACCESS') as string,
  });
  expect(asUser(evictd, GID, 'evict', 'batch', '--wait')).toMatchObject({ code: 0, stderr: '' });
  await batch.ended;
  const by = expect.stringMatching(/^uid 65534.*, process \d+ \(evictd\)$/) as string;
  expect(await evictd.recorded('decision')).toMatchObject({ disruption: { reason: 'eviction', by } });
  expect(asUser(evictd, GID, 'resume')).toMatchObject({ code: 0, stdout: expect.stringContaining('uid 65534') as string });
  expect((await evictd.recorded('resume')).by).toEqual(by);
});
