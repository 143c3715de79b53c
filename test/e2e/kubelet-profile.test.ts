import { describe, expect, test } from 'vitest';
import { Evictd } from './evictd.js';
import { ABOVE_128_MIB, guarding, ON, testNode, workload } from './node.js';
import { aWhile } from './wait.js';

describe(`compatibility with the kubelet (${ON})`, () => {
  test.each<[rule: string, config: object, action: string, graceSeconds: number, ended: NodeJS.Signals | null]>([
    ['has no grace period by default', {}, 'SIGKILL', 0, 'SIGKILL'],
    ['has a grace period of one second with compatibility kubelet', { compatibility: 'kubelet' }, 'SIGTERM', 1, null],
    ['follows a departure that is switched off', { departures: { 'hard-grace': false } }, 'SIGTERM', 1, null],
    ['follows a departure that is switched on', { compatibility: 'kubelet', departures: { 'hard-grace': true } }, 'SIGKILL', 0, 'SIGKILL'],
  ])('a hard threshold %s', async (_rule, config, action, graceSeconds, ended) => {
    const node = testNode();
    const batch = await workload(node.child('batch'), { growsMib: 140, onTerm: 'exit' });
    const evictd = await new Evictd({ config: { ...guarding(node), evictionHard: ABOVE_128_MIB, ...config } }).guarding();
    batch.grow();
    expect(await batch.ended).toBe(ended);
    expect(await evictd.recorded('decision')).toMatchObject({ action, graceSeconds });
    expect(await evictd.recorded('outcome')).toMatchObject({ result: 'killed' });
  });

  test('with compatibility kubelet a hard eviction waits for a soft one in progress', async () => {
    const node = testNode();
    const batch = await workload(node.child('batch'), { growsMib: 140, onTerm: 'ignore' });
    const config = {
      ...guarding(node),
      compatibility: 'kubelet',
      evictionHard: { 'memory.available': '250Mi' },
      evictionSoft: ABOVE_128_MIB,
      evictionSoftGracePeriod: { 'memory.available': '200ms' },
      evictionMaxPodGracePeriod: 60,
      monitoringInterval: '100ms',
    };
    const evictd = await new Evictd({ config }).guarding();
    batch.grow();
    await evictd.recorded('decision');
    batch.grow(); // 280 MiB: less than 250 of 512 MiB are available
    await aWhile();
    await aWhile();
    expect(batch.alive).toBe(true);
    expect(evictd.journal().filter(({ type }) => type === 'decision' || type === 'escalation')).toHaveLength(1);
  });
});
