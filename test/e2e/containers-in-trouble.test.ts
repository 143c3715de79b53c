import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { TestCgroup } from '../support/cgroup.js';
import { Containerd, hasContainerd, type Pod } from '../support/cri/containerd.js';
import { limitPidsOf, startForkBomb } from '../support/fork-bomb.js';
import { Evictd, victimOf } from './evictd.js';
import { ABOVE_128_MIB, ON, testNode } from './node.js';
import { aWhile } from './wait.js';

const processesOf = (node: TestCgroup, { containers }: Pod): readonly string[] =>
  readFileSync(`${node.dir}/${containers.app ?? ''}/cgroup.procs`, 'utf8')
    .split('\n')
    .filter(Boolean);
/** Its /tmp while it runs. */
const tmpOf = (node: TestCgroup, pod: Pod): string => `/proc/${processesOf(node, pod)[0] ?? ''}/root/tmp`;
const of = (guard: Evictd, type: string) => guard.journal().filter((line) => line.type === type);

describe.runIf(hasContainerd)(`containers while containerd or process ids fail (${ON}; where containerd is)`, () => {
  let runtime: Containerd;
  beforeAll(async () => {
    runtime = new Containerd();
    await runtime.start();
  });
  afterAll(() => runtime.remove());

  const podIn = (node: TestCgroup, name: string, app: string): Promise<Pod> =>
    runtime.pod({ name, cgroup: node.path, containers: { app } });
  const guarding = (node: TestCgroup, thresholds: object) =>
    new Evictd({
      config: {
        node: { cgroup: node.path },
        workloads: [{ cri: { endpoint: runtime.endpoint } }],
        monitoringInterval: '1s',
        ...thresholds,
      },
    }).guarding();

  test('when containerd ends during a stop, the container still ends, and is removed when containerd is back', async () => {
    const node = testNode();
    onTestFinished(() => runtime.clear()); // before the cgroup is removed: a runtime keeps containers that it could not end
    const grows = 'until [ -e /tmp/grow ]; do sleep 0.05; done; head -c 200000000 /dev/zero | tail | sleep 600';
    const orderly = await podIn(node, 'orderly', `trap 'echo > /tmp/term' TERM; ${grows} & until [ -e /tmp/go ]; do sleep 0.05; done`);
    const kept = await podIn(node, 'kept', 'sleep 600');
    const guard = await guarding(node, {
      evictionHard: { 'memory.available': '5%' },
      evictionSoft: ABOVE_128_MIB,
      evictionSoftGracePeriod: { 'memory.available': '1s' },
      evictionMaxPodGracePeriod: 3600,
    });
    const tmp = tmpOf(node, orderly);
    writeFileSync(`${tmp}/grow`, '');
    await guard.until('the container got SIGTERM', () => existsSync(`${tmp}/term`));
    await runtime.stop('SIGKILL');
    expect(of(guard, 'outcome')).toEqual([]);
    writeFileSync(`${tmp}/go`, '');

    expect(await guard.recorded('outcome')).toMatchObject({ result: 'killed', victim: { name: 'default/orderly/app' } });
    expect(await guard.recorded('removal')).toMatchObject({ removed: false });
    await runtime.run();
    await guard.removed('default/orderly/app');
    expect(of(guard, 'escalation')).toEqual([]);
    expect(runtime.containers()).not.toContain(orderly.containers.app);
    expect(await runtime.pods()).toEqual([kept.id]);
    expect(processesOf(node, kept)).toHaveLength(1);
  });

  test('when process ids run short, only the pod that forks all the time is evicted', async () => {
    const node = testNode();
    const limit = limitPidsOf(node, 200);
    onTestFinished(async () => {
      await runtime.clear();
      await node.cleanup();
      await limit.cleanup();
    });
    const web = await podIn(node, 'web', 'for n in $(seq 40); do sleep 600 & done; wait');
    // A shell whose fork fails exits, except inside `command`.
    const bomb = await podIn(node, 'bomb', `until [ -e /tmp/grow ]; do sleep 0.05; done; while :; do command eval 'sleep 600 &'; done`);
    const guard = await guarding(node, { evictionHard: { 'pid.available': '60', 'memory.available': '0%' } });
    await guard.until('all pods have started their processes', () => processesOf(node, web).length === 41);
    writeFileSync(`${tmpOf(node, bomb)}/grow`, '');

    const outcome = await guard.recorded('outcome');
    expect(outcome).toMatchObject({ signal: 'pid.available', result: 'killed', victim: { name: 'default/bomb/app' } });
    await guard.removed('default/bomb/app');
    await aWhile(); // a second victim would be a defect
    expect(of(guard, 'decision').map(victimOf)).toEqual(['default/bomb/app']);
    expect(processesOf(node, web)).toHaveLength(41);
    expect(await runtime.pods()).toEqual([web.id]);
  });

  test.each(['container', 'cgroup'] as const)(
    'when process ids run short, with a container beside a cgroup, the %s that forks all the time is evicted',
    async (bomb) => {
      const node = testNode();
      const limit = limitPidsOf(node, 200);
      const batch = node.child('batch');
      const ofBatch = limitPidsOf(batch, 180);
      onTestFinished(async () => {
        await runtime.clear();
        await node.cleanup();
        await ofBatch.cleanup();
        await limit.cleanup();
      });
      const crowd = 'for n in $(seq 40); do sleep 600 & done; wait';
      // A shell whose fork fails exits, except inside `command`.
      const forks = `until [ -e /tmp/grow ]; do sleep 0.05; done; while :; do command eval 'sleep 600 &'; done`;
      const app = await podIn(node, 'app', bomb === 'container' ? forks : crowd);
      const inBatch = (): string[] => batch.read('cgroup.procs').split('\n').filter(Boolean);
      if (bomb === 'container') await batch.spawn('/bin/sh', ['-c', `${ofBatch.join}; ${crowd}`]);
      await runtime.stop('SIGKILL');
      const guard = await guarding(node, {
        evictionHard: { 'pid.available': '60', 'memory.available': '0%' },
        workloads: [{ cri: { endpoint: runtime.endpoint } }, { cgroup: node.path }],
      });
      await guard.logged(/cannot query workload source cri/);
      await runtime.run();
      await guard.logged(/is solved/); // a container that no runtime has reported is not evicted
      await guard.until('the processes have started', () => (bomb === 'container' ? inBatch() : processesOf(node, app)).length === 41);
      if (bomb === 'container') writeFileSync(`${tmpOf(node, app)}/grow`, '');
      else startForkBomb(batch, ofBatch);

      const victim = bomb === 'container' ? 'default/app/app' : 'batch';
      const decision = await guard.recorded('decision');
      expect(decision).toMatchObject({ signal: 'pid.available', kind: 'hard', victim: { name: victim } });
      const ranking = decision.ranking as { name: string; processes: number }[];
      expect(ranking[0]?.processes).toBeGreaterThan(41);
      expect(ranking[1]).toMatchObject({ name: bomb === 'container' ? 'batch' : 'default/app/app', processes: 41 });
      expect(await guard.recorded('outcome')).toMatchObject({ result: 'killed', victim: { name: victim } });
      if (bomb === 'container') await guard.removed(victim);
      await aWhile(); // a second victim would be a defect
      expect(of(guard, 'decision').map(victimOf)).toEqual([victim]);
      expect([inBatch().length, (await runtime.pods()).length]).toEqual(bomb === 'container' ? [41, 0] : [0, 1]);
      if (bomb === 'cgroup') expect(processesOf(node, app)).toHaveLength(41);
    },
  );
});
