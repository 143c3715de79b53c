import { describe, expect, test } from 'vitest';
import { SCHED_FIFO, scheduling } from '../support/scheduling.js';
import { Evictd } from './evictd.js';
import { guarding, testNode } from './node.js';

describe('the thread that watches', () => {
  test('has the lowest real-time priority, and no other thread has one', async () => {
    const evictd = await new Evictd({ config: guarding(testNode()) }).guarding();
    expect(scheduling(evictd.pid, 'evictd-waiter')).toEqual([[SCHED_FIFO, 1]]);
    const others = [...scheduling(evictd.pid, 'evictd'), ...scheduling(evictd.pid, 'evictd-reaper')];
    expect(others).toEqual(others.map(() => [0, 0]));
    expect(others.length).toBeGreaterThan(1);
    expect(await evictd.stop()).toBe(0);
  });

  test('has none in a dry run', async () => {
    const evictd = await new Evictd({ config: guarding(testNode()), args: ['--dry-run'] }).guarding();
    expect(scheduling(evictd.pid, 'evictd-waiter')).toEqual([[0, 0]]);
    expect(await evictd.stop()).toBe(0);
  });

  test('goes without where that is not permitted, which evictd logs', async () => {
    const through = ['setpriv', '--bounding-set', '-sys_nice', '--inh-caps', '-sys_nice', 'prlimit', '--rtprio=0:0'];
    const evictd = await new Evictd({ config: guarding(testNode()), through }).guarding();
    expect(scheduling(evictd.pid, 'evictd-waiter')).toEqual([[0, 0]]);
    expect(evictd.log.map(({ msg }) => msg)).toContainEqual(expect.stringMatching(/no real-time priority: EPERM.*LimitRTPRIO=1/));
    expect(await evictd.stop()).toBe(0);
  });
});
