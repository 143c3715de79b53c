import { once } from 'node:events';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Io } from '../../../src/cli/output/io.js';
import { UnavailableError, UsageError } from '../../../src/errors.js';
import { drawingFor, statusCommand } from '../../../src/features/status/command.js';
import type { StatusDocument } from '../../../src/features/status/status-document.js';
import { routesServer } from '../../../src/http/routes-server.js';
import { askEvictd } from '../../../src/node/control-client.js';
import { temporaryDirectory } from '../../support/temporary-directory.js';

const document = (growth: number | null): StatusDocument =>
  ({
    evictd: null,
    node: { name: 'machine' },
    ...{
      signals: [],
      historyAgesSeconds: [],
      thresholds: [],
      conditions: [],
      taints: [],
      disruptionBudgets: [],
      pressure: null,
      evictions: [],
      decisions: [],
    },
    ...{ budget: null, pauses: [], policies: [], heldUnits: [], kubernetes: null, notifiers: [], problems: [] },
    candidates: {
      signal: 'memory.available',
      total: 1,
      workloads: [{ place: 1, name: 'w', growth, request: 0, usage: 1, priority: 0, protection: null }],
    },
  }) as unknown as StatusDocument;

async function shown(isTTY: boolean, ...args: string[]): Promise<{ out: string; reads: number }> {
  let out = '';
  let reads = 0;
  const io: Io = { stdout: (text) => (out += text), stderr: () => undefined, isTTY, columns: 80, rows: 24, env: {} };
  const open = () => () => {
    reads += 1;
    return Promise.resolve(document(reads === 1 ? null : 1024));
  };
  await statusCommand({ io, open, againMs: 1 }).parseAsync(args, { from: 'user' });
  return { out, reads };
}

test('top on a terminal reads twice, for the growth', async () => {
  const { out, reads } = await shown(true);
  expect(reads).toBe(2);
  expect(out).toContain('+1KiB');
});

test('top without a terminal, and with JSON, reads once', async () => {
  expect((await shown(false)).reads).toBe(1);
  const { out, reads } = await shown(true, '-o', 'json');
  expect(reads).toBe(1);
  expect(JSON.parse(out)).toMatchObject({ candidates: { total: 1 } });
});

test('a terminal shows as many lines as it has, without one for the prompt, and a file has all', () => {
  const io: Io = { stdout: () => undefined, stderr: () => undefined, isTTY: true, columns: 90, rows: 30, env: { LANG: 'de_DE.UTF-8' } };
  expect(drawingFor(io)).toMatchObject({ columns: 90, rows: 29, unicode: true });
  expect(drawingFor({ ...io, isTTY: false, env: { LC_ALL: 'C', LANG: 'de_DE.UTF-8' } })).toMatchObject({
    columns: 120,
    rows: undefined,
    unicode: false,
  });
});

async function serving(dryRun: boolean): Promise<{ node: { cgroup: undefined }; runtimeDirectory: string }> {
  const runtimeDirectory = temporaryDirectory();
  const server = routesServer(
    [
      { method: 'GET', path: '/x', servedBy: 'socket', answer: ({ query }) => ({ json: { y: query.get('y'), dryRun } }) },
      { method: 'POST', path: '/x', servedBy: 'socket', answer: ({ body }) => ({ json: { body } }) },
      {
        method: 'GET',
        path: '/wrong',
        servedBy: 'socket',
        answer: () => {
          throw new UsageError('EVICTD_API_SIGNAL', 'no', { hint: 'yes' });
        },
      },
    ],
    60_000,
  ).listen(join(runtimeDirectory, dryRun ? 'machine-dry-run.sock' : 'machine.sock'));
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return { node: { cgroup: undefined }, runtimeDirectory };
}

test.each([false, true])('top asks the running evictd, also one in a dry run (%s)', async (dryRun) => {
  const config = await serving(dryRun);
  expect(await askEvictd(config, { method: 'GET', path: '/x?y=1' })).toEqual({ y: '1', dryRun });
  expect(await askEvictd(config, { method: 'POST', path: '/x', body: 'b' })).toEqual({ body: 'b' });
});

test('errors of the running evictd keep code, message and hint', async () => {
  const config = await serving(false);
  await expect(askEvictd(config, { method: 'GET', path: '/wrong' })).rejects.toThrow(
    new UsageError('EVICTD_API_SIGNAL', 'no', { hint: 'yes' }),
  );
  await expect(askEvictd(config, { method: 'GET', path: '/none' })).rejects.toBeInstanceOf(UnavailableError);
});

test('top reports that no evictd listens', async () => {
  expect(await askEvictd({ node: { cgroup: undefined }, runtimeDirectory: '/nonexistent' }, { method: 'GET', path: '/x' })).toBeUndefined();
});
