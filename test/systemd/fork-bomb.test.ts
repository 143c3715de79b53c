import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, onTestFinished, test } from 'vitest';
import { hasSystemd } from '../support/systemd.js';
import { Evictd, victimOf } from '../e2e/evictd.js';
import { ON } from '../e2e/node.js';
import { aWhile } from '../e2e/wait.js';
import { Scene } from './scene.js';

const THREADS_MAX = '/proc/sys/kernel/threads-max';

/** Limits the process ids of the machine; restored after the test. */
function leaveTasks(count: number): void {
  const before = readFileSync(THREADS_MAX, 'utf8');
  onTestFinished(() => {
    writeFileSync(THREADS_MAX, before);
  });
  const tasks = Number(/\/(\d+) /.exec(readFileSync('/proc/loadavg', 'utf8'))?.[1]);
  writeFileSync(THREADS_MAX, String(tasks + count));
}

describe.runIf(hasSystemd)(`process ids of the whole machine (${ON}, needs systemd)`, () => {
  test('only the unit that forks all the time is evicted', async () => {
    const scene = new Scene();
    const bomb = scene.service('bomb', "/usr/bin/perl -e 'fork while 1'", { TasksMax: 'infinity' });
    const crowd = scene.service('crowd', "/bin/sh -c 'for n in $(seq 40); do sleep infinity & done; wait'");
    const [large, many] = [...(await scene.holders({ large: { mib: 80 } })), ...scene.start(crowd)];
    const evictd = await new Evictd({
      config: { evictionHard: { 'pid.available': '150', 'memory.available': '0%' }, workloads: [{ systemd: { slices: [scene.slice] } }] },
    }).guarding();
    leaveTasks(300);

    const [forking] = scene.start(bomb);
    const outcome = await evictd.recorded('outcome');
    await evictd.until('systemd has seen the end', () => forking?.ended() === true);
    await aWhile(); // a second victim would be a defect

    expect(outcome).toMatchObject({ signal: 'pid.available', result: 'killed', victim: { name: bomb } });
    expect(forking?.result()).toBe('signal');
    expect([large, many].map((unit) => unit?.untouched())).toEqual([true, true]);
    const decisions = evictd.journal().filter(({ type }) => type === 'decision');
    expect(decisions.map(victimOf)).toEqual([bomb]);
  });
});
