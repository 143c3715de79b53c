import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdirSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Evictd, victimOf } from './evictd.js';
import { guarding, ON, testNode, workload } from './node.js';
import { aWhile } from './wait.js';
import { temporaryDirectory } from '../support/temporary-directory.js';

/** Mounts in a mount namespace that ends with evictd. */
const through = (script: string): readonly string[] => ['unshare', '--mount', 'sh', '-c', `${script} && exec "$@"`, 'sh'];

/** Without mounts. */
function prepared(prepare: () => unknown): undefined {
  prepare();
}

describe(`a failing state directory neither stops nor delays an eviction (${ON})`, () => {
  test.each<[trouble: string, prepare: (state: string) => readonly string[] | undefined, said: RegExp]>([
    [
      'full',
      (state) => through(`mount -t tmpfs -o size=16k none ${state} && { cat /dev/zero > ${state}/filler; true; } 2>/dev/null`),
      /ENOSPC/,
    ],
    ['read-only', (state) => through(`mount -t tmpfs -o ro none ${state}`), /EROFS/],
    [
      'a state directory that is not a directory',
      (state) => prepared(() => execFileSync('sh', ['-c', `rmdir ${state} && touch ${state}`])),
      /EEXIST|ENOTDIR/,
    ],
    // No error and no answer: opening a FIFO waits for a reader.
    ['hung', (state) => prepared(() => execFileSync('mkfifo', [join(state, 'journal.jsonl')])), /^evicted batch/],
  ])('%s', async (_trouble, prepare, said) => {
    const node = testNode();
    const [batch, web] = [await workload(node.child('batch'), { growsMib: 140 }), await workload(node.child('web'), { holdsMib: 10 })];
    const directory = temporaryDirectory('/dev/shm');
    mkdirSync(join(directory, 'state'));
    const before = prepare(join(directory, 'state'));
    const evictd = await new Evictd({
      config: guarding(node, [{ match: { name: 'batch' }, priority: -1 }]),
      directory,
      ...(before ? { through: before } : {}),
    }).guarding();
    batch.grow();
    expect(await batch.ended).toBe('SIGKILL');
    expect((await evictd.logged(/^evicted batch/)).level).toBe('warn');
    await evictd.logged(said);
    await aWhile();
    expect(web.alive).toBe(true);
    // Records that could not be written are in the runtime directory.
    const [ring = ''] = readdirSync(join(directory, 'run')).filter((name) => name.startsWith('journal-'));
    expect(readFileSync(join(directory, 'run', ring), 'latin1')).toMatch(/"type":"decision".*"type":"outcome"/s);
    expect(await evictd.stop()).toBe(0);
  });
});

test(`a full pipe on standard error does not stop an eviction (${ON})`, async () => {
  const node = testNode();
  const batch = await workload(node.child('batch'), { growsMib: 140 });
  const directory = temporaryDirectory('/dev/shm');
  const pipe = join(directory, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const stderr = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK);
  onTestFinished(() => closeSync(stderr));
  expect(() => {
    for (;;) writeSync(stderr, Buffer.alloc(4096));
  }).toThrow(/EAGAIN/); // it is full
  const port = await freePort();
  const evictd = await new Evictd({
    config: { ...guarding(node), metrics: { listen: `127.0.0.1:${String(port)}` } },
    directory,
    stderr,
  }).guarding(port);
  batch.grow();
  expect(await batch.ended).toBe('SIGKILL');
  expect(await evictd.recorded('outcome')).toMatchObject({ result: 'killed' });
  expect(await evictd.stop()).toBe(0);
});

test(`after SIGKILL between decision and outcome the next start records the decision (${ON})`, async () => {
  const node = testNode();
  const batch = await workload(node.child('batch'), { growsMib: 140, onTerm: 'ignore' });
  const directory = temporaryDirectory('/dev/shm');
  const state = join(directory, 'state');
  writeFileSync(state, ''); // no journal can be written into this
  const soft = {
    ...guarding(node),
    evictionHard: { 'memory.available': '64Mi' },
    evictionSoft: { 'memory.available': '384Mi' },
    evictionSoftGracePeriod: { 'memory.available': '100ms' },
    evictionMaxPodGracePeriod: 60,
  };
  const first = await new Evictd({ config: soft, directory }).guarding();
  batch.grow();
  await first.logged(/^evicting batch with SIGTERM/);
  expect(await first.stop('SIGKILL')).toBe('SIGKILL');
  expect(batch.alive).toBe(true);
  expect(first.journal()).toEqual([]);

  rmSync(state);
  const calm = { ...guarding(node), evictionHard: { 'memory.available': '64Mi' } };
  const second = await new Evictd({ config: calm, directory }).guarding();
  const decision = await second.recorded('decision');
  expect(decision).toMatchObject({ decision: 1, action: 'SIGTERM', node: node.path });
  expect(victimOf(decision)).toBe('batch');
  expect((decision.ranking as unknown[]).length).toBe(1);
  const types = second.journal().map(({ type }) => type);
  expect(types).not.toContain('outcome');
  const restart = second.journal()[types.lastIndexOf('start')];
  expect(restart?.recovered).toBe(types.lastIndexOf('start')); // everything before it is from the first run
  expect(types.indexOf('decision')).toBeLessThan(types.lastIndexOf('start'));
  expect(await second.stop()).toBe(0);

  const third = await new Evictd({ config: calm, directory }).guarding();
  await aWhile();
  expect(third.journal().filter(({ type }) => type === 'decision')).toHaveLength(1); // not again at every start
});

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' ? (address?.port ?? 0) : 0));
    });
  });
}
