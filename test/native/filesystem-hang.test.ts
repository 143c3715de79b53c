import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, readdirSync } from 'node:fs';
import { constants } from 'node:os';
import { describe, expect, test } from 'vitest';
import { native, type FilesystemReading, type FilesystemStats } from '../../src/native/index.js';
import { fuseWorks, mountFuse, type FuseMount } from '../support/fuse.js';
import { addonFile, after, closing, runNode, until } from './kernel.js';

const { ECONNABORTED, ENOTCONN } = constants.errno as Record<string, number>;

const works = await fuseWorks();

/** As the mount says while it answers. */
const ANSWER = {
  totalBytes: 4_096_000,
  freeBytes: 2_048_000,
  availableBytes: 1_638_400,
  inodes: 100,
  inodesFree: 50,
  errno: 0,
  pending: false,
};

async function mount(): Promise<FuseMount> {
  const fuse = await mountFuse();
  after(() => fuse.remove());
  return fuse;
}

const open = (directory: string) => closing(new native.FilesystemStats(directory));

async function measure(stats: FilesystemStats): Promise<FilesystemReading> {
  let done = false;
  stats.request(() => (done = true));
  await until('the filesystem answers', () => done);
  return stats.read();
}

const nameOf = (thread: string): string => {
  try {
    return readFileSync(`/proc/self/task/${thread}/comm`, 'utf8');
  } catch {
    return ''; // it has ended meanwhile
  }
};
const statfsThreadIds = (): string[] => readdirSync('/proc/self/task').filter((thread) => nameOf(thread) === 'evictd-statfs\n');
const statfsThreads = (): number => statfsThreadIds().length;
/** It waits for the filesystem, not for a request. */
const isHanging = (): boolean =>
  statfsThreadIds().some((thread) => readFileSync(`/proc/self/task/${thread}/wchan`, 'utf8').includes('request_wait_answer'));

describe.runIf(works).each(['untaken', 'unanswered'] as const)(
  'a FUSE mount that hangs, with requests %s (where one can be mounted)',
  (how) => {
    test('delays nothing: JavaScript runs, another filesystem answers, and this one answers later', async () => {
      const fuse = await mount();
      const [hung, other] = [open(fuse.directory), open('/')];
      expect(await measure(hung)).toMatchObject(ANSWER);
      await fuse.hang(how);
      let answers = 0;
      expect(hung.request(() => (answers += 1))).toBe(true);
      expect(hung.request(() => (answers += 100))).toBe(false);
      for (let turn = 0; turn < 20; turn += 1) expect(await measure(other)).toMatchObject({ errno: 0, pending: false });
      const { pending, pendingSinceNs, atNs, totalBytes } = hung.read();
      expect([pending, answers, totalBytes]).toEqual([true, 0, ANSWER.totalBytes]);
      expect(pendingSinceNs).toBeGreaterThan(atNs);
      await fuse.answer();
      await until('the answer comes', () => answers === 1);
      expect(hung.read()).toMatchObject(ANSWER);
      expect(await measure(hung)).toMatchObject(ANSWER);
    });

    test('uses one thread, however often it is closed and opened again, and the last instance joins the pending request', async () => {
      const fuse = await mount();
      await until('the threads of others end', () => statfsThreads() === 0);
      await fuse.hang(how);
      let dropped = 0;
      const opened: FilesystemStats[] = [];
      for (let i = 0; i < 50; i += 1) {
        const stats = new native.FilesystemStats(fuse.directory);
        stats.request(() => (dropped += 1));
        opened.push(stats);
        if (i === 0) await until('the thread hangs', isHanging);
        if (i > 0) opened[i - 1]?.close();
      }
      opened.at(-1)?.close();
      expect(statfsThreads()).toBe(1);
      const before = process.hrtime.bigint();
      const stats = open(fuse.directory);
      expect(stats.read()).toMatchObject({ pending: false, atNs: 0n });
      let answers = 0;
      stats.request(() => (answers += 1));
      expect(statfsThreads()).toBe(1);
      expect(stats.read().pending).toBe(true);
      expect(stats.read().pendingSinceNs).toBeLessThan(before);
      await fuse.answer();
      await until('the answer comes', () => answers === 1);
      expect(stats.read()).toMatchObject(ANSWER);
      stats.close();
      await until('the thread ends', () => statfsThreads() === 0);
      expect(dropped).toBe(0);
    });

    test('and is aborted gives an error, and answers again after it was mounted again', async () => {
      const fuse = await mount();
      const stats = open(fuse.directory);
      await fuse.hang(how);
      let answers = 0;
      stats.request(() => (answers += 1));
      fuse.abort();
      await until('the answer comes', () => answers === 1);
      expect([ECONNABORTED, ENOTCONN]).toContain(stats.read().errno);
      expect(await measure(stats)).toMatchObject({ errno: ENOTCONN, totalBytes: 0 });
      const again = await fuse.again();
      after(() => again.remove());
      expect(await measure(stats)).toMatchObject(ANSWER);
    });
  },
);

/** Asks the mount, and goes on when the request is under way. */
const asking = (directory: string) => `
  const stats = new native.FilesystemStats(${JSON.stringify(directory)});
  stats.request();
  const { readdirSync, readFileSync } = require('node:fs');
  const hangs = () => readdirSync('/proc/self/task').some((thread) => {
    try { return readFileSync('/proc/self/task/' + thread + '/wchan', 'utf8').includes('request_wait_answer'); } catch { return false; }
  });
  while (!hangs());`;

const ends: [how: string, script: (directory: string) => string, status: number][] = [
  ['returns from its last event', (directory) => asking(directory), 0],
  ['calls process.exit()', (directory) => `${asking(directory)} process.exit(3);`, 3],
  ['calls exitNow', (directory) => `${asking(directory)} native.exitNow(4);`, 4],
  [
    'whose worker is terminated with the request',
    (directory) => `
      const { Worker } = require('node:worker_threads');
      const script = ${JSON.stringify(asking(directory))} + "require('node:worker_threads').parentPort.postMessage(0); setInterval(() => {}, 1000);";
      const prelude = 'const native = require(' + ${JSON.stringify(JSON.stringify(addonFile))} + ');';
      const worker = new Worker(prelude + script, { eval: true });
      worker.on('message', () => worker.terminate());
      worker.on('exit', () => { process.exitCode = 5; });`,
    5,
  ],
];

describe.runIf(works)('a process with a request to a mount that hangs (where one can be mounted)', () => {
  test.each(ends)('ends if it %s', async (_how, script, status) => {
    const fuse = await mount();
    await fuse.hang('untaken');
    expect(await runNode(script(fuse.directory))).toEqual({ status, output: '' });
  });

  test('stays a zombie as long as the kernel waits, if the server took the request', async () => {
    const fuse = await mount();
    await fuse.hangAt('statfs');
    const script = `
      const native = require(${JSON.stringify(addonFile)}); ${asking(fuse.directory)}
      process.stdin.once('data', () => native.exitNow(4));`;
    const child = spawn(process.execPath, ['-e', script]);
    const ended = once(child, 'exit');
    const state = () => /^State:\s+(\S)/m.exec(readFileSync(`/proc/${String(child.pid)}/status`, 'utf8'))?.[1];
    await fuse.stuck();
    child.stdin.write('now');
    await until('the process is a zombie', () => state() === 'Z');
    fuse.abort();
    expect(await ended).toEqual([4, null]);
  });
});
