import { rmdirSync } from 'node:fs';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { TestCgroup, TestProcess } from '../support/cgroup.js';
import { fullFilesystem } from '../support/full-filesystem.js';
import { Evictd, victimOf } from './evictd.js';
import { guarding, MIB, ON, testNode, workload } from './node.js';
import { aWhile, until } from './wait.js';

// A node of 512 MiB of which evictd guards 384. The holder has 112 MiB on a tmpfs that outlives it.

const STAYS_MIB = 112;
const OWN_MIB = 21;

/** Writes to a file, takes memory, and stays. Resolves when it holds both. */
async function holder(cgroup: TestCgroup, file: string, staysMib = STAYS_MIB): Promise<TestProcess> {
  const program = `
    $| = 1;
    my $block = "x" x (1 << 20);
    open my $out, '>', '${file}' or die;
    syswrite $out, $block for 1 .. ${String(staysMib)};
    my @held;
    push @held, "x" x (1 << 20) for 1 .. ${String(OWN_MIB)};
    print "ready\\n";
    sleep while 1;`;
  const started = await cgroup.spawn('perl', ['-e', program]);
  let said = '';
  started.child.stdout?.on('data', (chunk: Buffer) => (said += chunk.toString()));
  await until('the holder is ready', () => said.includes('ready'));
  return started;
}

/** Removes a cgroup as soon as no process is left, as systemd does. */
function removedWhenEmpty({ dir }: TestCgroup): void {
  const timer = setInterval(() => {
    try {
      rmdirSync(dir);
      clearInterval(timer);
    } catch {
      // processes are left
    }
  }, 1);
  onTestFinished(() => {
    clearInterval(timer);
  });
}

describe(`memory that outlives its processes (${ON})`, () => {
  test.each([
    ['the cgroup stays', false],
    ['another program removes the cgroup', true],
  ])('%s: there is one eviction, found to be ineffective, and no other workload ends', async (_rule, isRemoved) => {
    const node = testNode();
    const others = [];
    for (const name of ['a', 'b', 'c']) others.push(await workload(node.child(name), { holdsMib: 12 }));
    const cgroup = node.child('holder');
    const { ended } = await holder(cgroup, `${fullFilesystem(200 * 1024).directory}/file`);
    if (isRemoved) removedWhenEmpty(cgroup);
    const evictd = await new Evictd({ config: guarding(node) }).guarding();

    expect(await ended).toBe('SIGKILL');
    const decision = await evictd.recorded('decision');
    const outcome = await evictd.recorded('outcome');
    expect(victimOf(decision)).toBe('holder');
    expect(outcome).toMatchObject({ result: 'ineffective', notFreed: 'stays' });
    expect(decision.expectedBytes).toBeGreaterThan(OWN_MIB * MIB);
    expect(decision.expectedBytes).toBeLessThan((OWN_MIB + 10) * MIB);
    expect(outcome.nodeFreedBytes).toBeLessThan((OWN_MIB + 10) * MIB);
    expect((await evictd.recorded('alert')).alert).toBe('no-yield');
    await aWhile(); // a second victim would be a defect
    expect(others.map(({ alive }) => alive)).toEqual([true, true, true]);
    expect(evictd.journal().filter(({ type }) => type === 'decision')).toHaveLength(1);
    expect(await evictd.stop()).toBe(0);
  });

  test('where nothing grows and one other workload alone ends the shortage, only that one is evicted', async () => {
    const node = testNode();
    const small = await workload(node.child('small'), { holdsMib: 4 });
    const large = await workload(node.child('large'), { holdsMib: 60 });
    const { ended } = await holder(node.child('holder'), `${fullFilesystem(200 * 1024).directory}/file`, 100);
    const config = guarding(node, [{ match: { name: 'holder' }, priority: -1 }]);
    const evictd = await new Evictd({ config }).guarding();

    expect(await ended).toBe('SIGKILL');
    expect((await evictd.recorded('outcome')).notFreed).toBe('stays');
    expect((await evictd.recorded('alert')).alert).toBe('no-yield');
    expect(large.alive).toBe(true); // not before it is sure that nothing grows
    expect(await large.ended).toBe('SIGKILL');
    await until('the shortage is over', () => evictd.journal().some(({ type, met }) => type === 'threshold' && met === false));
    const outcomes = evictd.journal().filter(({ type }) => type === 'outcome');
    expect(outcomes.map(({ result }) => result)).toEqual(['ineffective', 'killed']);
    expect(small.alive).toBe(true);
    expect(await evictd.stop()).toBe(0);
  });
});
