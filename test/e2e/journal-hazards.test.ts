import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmdirSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { attempt } from '../../src/errors.js';
import { fuseWorks, mountFuse, type FuseCall } from '../support/fuse.js';
import { temporaryDirectory } from '../support/temporary-directory.js';
import { Evictd, type JournalLine } from './evictd.js';
import { guarding, ON, testNode, workload } from './node.js';

const LINE = `{"time":"2026-11-21T08:00:00.000Z","type":"alert","message":"${'x'.repeat(60)}"}\n`;

/** As many as fit into 64 KiB, but not one more. */
const FILE = LINE.repeat(Math.floor((64 * 1024) / LINE.length));

/** A filesystem of the test. */
function mounted(size: string): string {
  const state = mkdtempSync(join(tmpdir(), 'evictd-test-small-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'evictd-test', state]);
  onTestFinished(() => {
    execFileSync('umount', ['-l', state]);
    rmdirSync(state);
  });
  return state;
}

/** Records of all files of an evictd that has ended, the oldest file first; throws on an invalid line. */
function allLines(state: string): JournalLine[] {
  const age = (name: string): number => Number(/\.(\d+)$/.exec(name)?.[1] ?? 0);
  const names = readdirSync(state).filter((name) => /^journal\.jsonl(\.\d+)?$/.test(name));
  return names
    .sort((a, b) => age(b) - age(a))
    .flatMap((name) => readFileSync(join(state, name), 'utf8').trimEnd().split('\n'))
    .map((line) => JSON.parse(line) as JournalLine);
}

describe.runIf(await fuseWorks())(`a state directory that stops answering (${ON}, where FUSE can be mounted)`, () => {
  test.each<[rule: string, call: FuseCall, full: boolean]>([
    ['in the middle of a write', 'write', false],
    ['when it creates the file', 'create', false],
    ['when it reserves space', 'fallocate', false],
    ['when it renames a full file', 'link', true],
    ['when it renames the next file', 'rename', true],
  ])('%s: the eviction continues, and no record is missing when it answers again', async (_rule, call, full) => {
    const fuse = await mountFuse();
    onTestFinished(() => fuse.remove());
    const file = join(fuse.directory, 'journal.jsonl');
    if (full) writeFileSync(file, FILE);
    const node = testNode();
    const batch = await workload(node.child('batch'), { growsMib: 140 });
    const web = await workload(node.child('web'), { holdsMib: 10 });
    await fuse.hangAt(call);
    const config = {
      ...guarding(node, [{ match: { name: 'batch' }, priority: -1 }]),
      stateDirectory: fuse.directory,
      journal: { maxSize: '64Ki', maxFiles: 3 },
    };
    const evictd = await new Evictd({ config }).guarding();
    await fuse.stuck();
    batch.grow();
    expect(await batch.ended).toBe('SIGKILL');
    await evictd.logged(/^evicted batch/);
    expect((await evictd.get('/healthz'))?.status).toBe(200);
    const run = join(evictd.directory, 'run');
    const [ring = ''] = readdirSync(run).filter((name) => name.startsWith('journal-'));
    expect(readFileSync(join(run, ring), 'latin1')).toMatch(/"type":"decision".*"type":"outcome"/s);

    await fuse.answer();
    await evictd.until('the journal has the outcome', () => evictd.journal(file).some(({ type }) => type === 'outcome'));
    expect(web.alive).toBe(true);
    expect(await evictd.stop()).toBe(0);
    const journal = evictd.journal(file);
    expect(journal.map(({ type }) => type).filter((type) => ['start', 'decision', 'outcome', 'stop'].includes(type))).toEqual([
      'start',
      'decision',
      'outcome',
      'stop',
    ]);
    if (full) expect(readFileSync(`${file}.1`, 'utf8')).toBe(FILE);
    expect(evictd.log.map(({ code }) => code)).not.toContain('EVICTD_JOURNAL_LOST');
  });

  test('from the start of a boot on: it blocks one thread, whatever has to be read or written there', async () => {
    const fuse = await mountFuse();
    onTestFinished(() => fuse.remove());
    await fuse.hang('unanswered');
    const node = testNode();
    const batch = await workload(node.child('batch'), { growsMib: 140 });
    const evictd = await new Evictd({ config: { ...guarding(node), stateDirectory: fuse.directory } }).guarding();
    batch.grow();
    expect(await batch.ended).toBe('SIGKILL');
    await evictd.logged(/^evicted batch/);
    const tasks = `/proc/${String(evictd.child.pid)}/task`;
    const waits = readdirSync(tasks).map((task) => attempt(() => readFileSync(join(tasks, task, 'wchan'), 'utf8')) ?? 'ended');
    expect(waits.filter((where) => where.includes('request_wait_answer'))).toHaveLength(1);
    await fuse.answer();
    expect(await evictd.stop()).toBe(0);
    const journal = evictd.journal(join(fuse.directory, 'journal.jsonl')).map(({ type }) => type);
    expect(journal).toEqual(expect.arrayContaining(['start', 'decision', 'outcome', 'stop']));
  });

  test('and is aborted during a write: missing records follow when it is mounted again', async () => {
    const fuse = await mountFuse();
    onTestFinished(() => fuse.remove());
    const node = testNode();
    const batch = await workload(node.child('batch'), { growsMib: 140 });
    await fuse.hangAt('write');
    const evictd = await new Evictd({ config: { ...guarding(node), stateDirectory: fuse.directory } }).guarding();
    await fuse.stuck();
    batch.grow();
    expect(await batch.ended).toBe('SIGKILL');
    await evictd.logged(/^evicted batch/);
    fuse.abort();
    await evictd.logged(/EVICTD_JOURNAL_WRITE/);
    // Two seconds until the next try: a try before the mount would write below it.
    await evictd.until('evictd has tried again', async () => ((await evictd.metric('evictd_journal_errors_total')) ?? 0) >= 2);
    const again = await fuse.again();
    onTestFinished(() => again.remove());
    const file = join(again.directory, 'journal.jsonl');
    await evictd.until('the journal has the outcome', () => evictd.journal(file).some(({ type }) => type === 'outcome'));
    expect(evictd.journal(file).map(({ type }) => type)).toEqual(expect.arrayContaining(['start', 'decision', 'outcome']));
    expect(await evictd.stop()).toBe(0);
  });

  test('while evictd ends: a second SIGTERM changes nothing, it logs where its last records are, and ends as soon as the kernel lets it', async () => {
    const fuse = await mountFuse();
    onTestFinished(() => fuse.remove());
    await fuse.hangAt('write');
    const evictd = await new Evictd({ config: { ...guarding(testNode()), stateDirectory: fuse.directory } }).guarding();
    await fuse.stuck();
    evictd.child.kill('SIGTERM');
    await evictd.logged(/EVICTD_JOURNAL_BEHIND/);
    evictd.child.kill('SIGTERM');
    await evictd.logged(/^evictd stopped$/);
    await fuse.answer();
    expect(await evictd.exited()).toBe(0);
    const run = join(evictd.directory, 'run');
    const [ring = ''] = readdirSync(run).filter((name) => name.startsWith('journal-'));
    expect(readFileSync(join(run, ring), 'latin1')).toContain('"type":"stop"');
  });
});

test(`an eviction on a full disk is recorded in reserved space (${ON})`, async () => {
  const state = mounted('512k');
  const file = join(state, 'journal.jsonl');
  const node = testNode();
  const batch = await workload(node.child('batch'), { growsMib: 140 });
  const config = { ...guarding(node), stateDirectory: state, journal: { maxSize: '128Ki', maxFiles: 2 } };
  const evictd = await new Evictd({ config }).guarding();
  const next = ['journal.jsonl.next', 'evictions.jsonl.next'];
  const hasSpace = (name: string): boolean => readdirSync(state).includes(name) && statSync(join(state, name)).blocks > 0;
  await evictd.until('the next files have their space', () => next.every(hasSpace));
  expect(() => {
    writeFileSync(join(state, 'filler'), Buffer.alloc(1 << 20));
  }).toThrow('ENOSPC');
  batch.grow();
  await evictd.until('the journal has the outcome', () => evictd.journal(file).some(({ type }) => type === 'outcome'));
  expect(await batch.ended).toBe('SIGKILL');
  expect(await evictd.stop()).toBe(0);
  expect(allLines(state).map(({ type }) => type)).toEqual(expect.arrayContaining(['start', 'decision', 'outcome', 'stop']));
  expect(evictd.log.map(({ code }) => code)).not.toContain('EVICTD_JOURNAL_WRITE');
});

test(`a journal that rotates all the time has every record once, in order (${ON})`, async () => {
  const directory = temporaryDirectory('/dev/shm');
  const node = testNode();
  const batch = await workload(node.child('batch'), { growsMib: 140 });
  const config = { ...guarding(node), journal: { maxSize: '64Ki', maxFiles: 50 } };
  const evictd = await new Evictd({ config, directory }).guarding();
  const state = join(directory, 'state');
  const reloads = (): number => evictd.log.filter(({ msg }) => msg.startsWith('evictd reloaded its configuration')).length;
  for (let turn = 1; turn <= 400; turn += 1) {
    const before = turn % 50 === 0 ? reloads() : -1;
    evictd.child.kill('SIGHUP');
    if (turn === 200) batch.grow();
    if (before >= 0) await evictd.until('evictd has reloaded', () => reloads() > before);
    else await new Promise((resolve) => setTimeout(resolve, 15));
  }
  expect(await batch.ended).toBe('SIGKILL');
  await evictd.until('the outcome is in the log', () => evictd.log.some(({ msg }) => msg.startsWith('evicted batch')));
  expect(await evictd.stop()).toBe(0);
  const lines = allLines(state);
  expect(readdirSync(state)).toContain('journal.jsonl.1');
  expect(lines.filter(({ type }) => type === 'reload')).toHaveLength(reloads());
  expect(lines.map(({ time }) => time)).toEqual(lines.map(({ time }) => time).sort());
  expect(lines.map(({ type }) => type).filter((type) => ['start', 'decision', 'outcome', 'stop'].includes(type))).toEqual([
    'start',
    'decision',
    'outcome',
    'stop',
  ]);
});
