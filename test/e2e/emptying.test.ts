import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { TestCgroup, TestProcess } from '../support/cgroup.js';
import { loopFilesystem, loopWorks } from '../support/loop-filesystem.js';
import { Evictd, evictd, scratchDirectory } from './evictd.js';
import { MIB, ON, testNode } from './node.js';
import { until } from './wait.js';

// A real filesystem that is short, and a directory on it that goes with its workload.

interface Scene {
  readonly dbCgroup: TestCgroup;
  readonly nodefs: string;
  readonly own: string;
  readonly sentinel: string;
  readonly db: TestProcess;
  readonly web: TestProcess;
  readonly config: (more?: object) => Record<string, unknown>;
}

/** Of 64 MiB 24 are in the directory of db, in `files` files, and all but 2 of the rest are taken. */
async function scene(files: number): Promise<Scene> {
  const node = testNode();
  const loop = loopFilesystem(64, 40_000, 'ext4', '/mnt'); // nobody but root can put anything there
  onTestFinished(() => {
    loop.remove();
  });
  loop.mount();
  const nodefs = loop.directory;
  const [own, elsewhere] = [`${nodefs}/of-db`, `${nodefs}/elsewhere`];
  for (const directory of [own, elsewhere]) mkdirSync(directory);
  const sentinel = `${elsewhere}/sentinel`;
  writeFileSync(sentinel, 'stays');
  symlinkSync(elsewhere, `${own}/outside`);
  const script = `
    my ($files, $bytes) = @ARGV;
    for my $n (1 .. $files) { if ($n % 500 == 1) { mkdir("d$n") or die $!; chdir("d$n") or die $! }
      open(my $f, '>', "file-$n") or die $!; print $f 'x' x ($bytes / $files); close($f) or die $!; chdir('..') if $n % 500 == 0 }`;
  execFileSync('perl', ['-e', script, String(files), String(20 * MIB)], { cwd: own });
  const free = Number(execFileSync('df', ['--output=avail', '-B1', nodefs], { encoding: 'utf8' }).split('\n')[1]);
  writeFileSync(`${nodefs}/rest`, Buffer.alloc(Math.max(0, free - 2 * MIB)));
  execFileSync('sync', ['-f', nodefs]);
  const dbCgroup = node.child('db');
  const [db, web] = [await dbCgroup.spawn('sleep', ['1000']), await node.child('web').spawn('sleep', ['1000'])];
  const config = (more: object = {}): Record<string, unknown> => ({
    evictionHard: { 'nodefs.available': '8Mi' },
    node: { cgroup: node.path },
    workloads: [{ cgroup: node.path }],
    filesystems: { nodefs },
    rules: [{ match: { name: 'db' }, directories: [{ path: own, onEvict: 'empty' }] }],
    monitoringInterval: '1s',
    ...more,
  });
  return { dbCgroup, nodefs, own, sentinel, db, web, config };
}

const alive = ({ child }: TestProcess): boolean => child.exitCode === null && child.signalCode === null;
const stateOf = (directory: string): string => {
  const name = readdirSync(`${directory}/run`).find((file) => file.endsWith('.state'));
  return name === undefined ? '' : readFileSync(`${directory}/run/${name}`, 'latin1');
};
const scratch = (): string => {
  const directory = scratchDirectory();
  onTestFinished(() => {
    rmSync(directory, { recursive: true, force: true });
  });
  return directory;
};

describe.runIf(loopWorks())(`a directory that is emptied with its workload (${ON}; where loop devices are)`, () => {
  test('cures the disk, and nobody else goes; it stays itself, and so does what its links lead to', async () => {
    const { own, sentinel, db, web, config } = await scene(100);
    const { ino } = statSync(own);
    const guard = await new Evictd({ config: config() }).guarding();
    const outcome = await guard.recorded('outcome');
    expect(await db.ended).toBe('SIGKILL');
    expect(outcome).toMatchObject({ result: 'killed', victim: { name: 'db' }, signal: 'nodefs.available' });
    expect(outcome.freedBytes).toBeGreaterThan(18 * MIB);
    expect([readdirSync(own), statSync(own).ino, existsSync(sentinel), alive(web)]).toEqual([[], ino, true, true]);
    const journal = guard.journal();
    expect(journal.find(({ type }) => type === 'decision')).toMatchObject({ ranking: [{ name: 'db', empties: [own] }, { name: 'web' }] });
    const about = journal.filter(({ type }) => ['decision', 'emptying', 'emptied', 'outcome'].includes(type));
    expect(about.map(({ type }) => type)).toEqual(['decision', 'emptying', 'emptied', 'outcome']);
    expect(about[2]).toMatchObject({ decision: 1, victim: { name: 'db' }, path: own, complete: true, failed: 0, removedInodes: 102 });
    expect(about[2]?.removedBytes).toBeGreaterThan(19 * MIB);
  });

  test('is shown by rank and in a dry run, and left alone', async () => {
    const { own, db, config } = await scene(100);
    const guard = await new Evictd({ config: config(), args: ['--dry-run'] }).guarding();
    const decision = await guard.recorded('decision');
    expect(decision.message).toContain(`empties ${own}`);
    const run = await evictd('rank', '--signal', 'nodefs.available', '--config', guard.configFile);
    expect(run.stdout).toContain(`empties ${own}`);
    expect([alive(db), readdirSync(own).length]).toEqual([true, 2]);
  });

  test('is not where a link leads to it: that is said, and it makes nobody a candidate', async () => {
    const { nodefs, own, db, config } = await scene(100);
    symlinkSync(own, `${nodefs}/link`);
    const rules = [{ match: { name: 'db' }, directories: [{ path: `${nodefs}/link`, onEvict: 'empty' }] }];
    const guard = await new Evictd({ config: config({ rules }) }).guarding();
    await guard.until('it is said', () => guard.log.some(({ msg }) => msg.includes('a part of its path is a symbolic link')));
    await guard.recorded('alert');
    expect([alive(db), readdirSync(own).length]).toEqual([true, 2]);
  });

  test('is emptied by the next evictd where this one is killed in the middle', async () => {
    const { own, sentinel, config } = await scene(8_000);
    const directory = scratch();
    const before = readdirSync(own).length;
    const first = await new Evictd({ config: config(), directory }).guarding();
    await until('some of it is gone', () => readdirSync(own).length < before);
    await first.stop('SIGKILL');
    const left = readdirSync(own).length;
    const second = await new Evictd({ config: config(), directory }).guarding();
    const outcome = await second.recorded('outcome');
    expect(outcome).toMatchObject({ result: 'killed', victim: { name: 'db' } });
    expect([readdirSync(own), existsSync(sentinel)]).toEqual([[], true]);
    // On a machine that keeps this process waiting the first may have come to the end of it.
    const ends = second.journal().filter(({ type }) => type === 'emptied');
    expect(ends.at(-1)).toMatchObject({ complete: true });
    if (left > 0) expect(ends).toHaveLength(1);
  });

  test('is left alone by the next evictd where its workload has come back meanwhile', async () => {
    const { dbCgroup, own, config } = await scene(8_000);
    const directory = scratch();
    const before = readdirSync(own).length;
    const first = await new Evictd({ config: config(), directory }).guarding();
    await until('some of it is gone', () => readdirSync(own).length < before);
    await until('that is written down', () => stateOf(directory).includes('goneSinceNs') || readdirSync(own).length === 0);
    await first.stop('SIGKILL');
    const left = readdirSync(own).length;
    const again = await dbCgroup.spawn('sleep', ['1000']);
    // Enough is free meanwhile, so that nobody has to go any more.
    const second = await new Evictd({ config: config({ evictionHard: { 'nodefs.available': '1' } }), directory }).guarding();
    await second.recorded('outcome');
    expect(alive(again)).toBe(true);
    if (left === 0) return; // on a machine that keeps this process waiting the first may have come to the end of it
    const emptied = second.journal().findLast(({ type }) => type === 'emptied');
    expect(emptied).toMatchObject({ complete: false });
    expect(emptied?.reason).toMatch(/lives/);
    expect(readdirSync(own)).toHaveLength(left);
  });
});
