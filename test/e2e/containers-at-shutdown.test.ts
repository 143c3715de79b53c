import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { Containerd, hasContainerd, type Pod } from '../support/cri/containerd.js';
import { SLOWNESS } from '../support/slowness.js';
import { evictd, Evictd, type RunOptions } from './evictd.js';
import { ANOTHER_BOOT, ON, testNode } from './node.js';
import { PlayedLogin } from './played-login.js';
import { aWhile } from './wait.js';

// A real containerd and real pods. logind is simulated: test/power shuts machines down.

/** Logs the start and SIGTERM; `then` runs after SIGTERM. */
const onTerm = (then: string): string => `trap 'echo term; ${then}' TERM; echo begun; while :; do sleep 1000 & wait; done`;

const said = ({ logs }: Pod): readonly string[] => readFileSync(`${logs}/app.log`, 'utf8').match(/begun|term/g) ?? [];

describe.runIf(hasContainerd)(`pods of containerd at a shutdown of the machine (${ON})`, () => {
  const runtime = new Containerd();
  beforeAll(() => runtime.start());
  afterAll(() => runtime.remove());

  const scene = async () => {
    const login = await PlayedLogin.open();
    const node = testNode();
    onTestFinished(() => runtime.clear());
    const pod = (app: string, script: string, labels: Readonly<Record<string, string>> = {}) =>
      runtime.pod({ name: app, cgroup: node.path, ownCgroup: true, labels: { app, ...labels }, containers: { app: script } });
    const guarding = (rules: readonly object[], options: Partial<RunOptions> = {}) => {
      const shutdown = { shutdownGracePeriod: '20m', shutdownGracePeriodCriticalPods: '10m' };
      const config = { node: { cgroup: node.path }, workloads: [{ cri: { endpoint: runtime.endpoint } }], rules, ...shutdown };
      return new Evictd({ config, through: login.through, ...options }).guarding();
    };
    return { login, pod, guarding };
  };
  /** evictd waits only 5 s for an answer of containerd, and emulated machines are slow. */
  const begins = async (login: PlayedLogin) => {
    await aWhile();
    login.prepare(true);
  };
  const critical = (app: string) => ({ match: { labels: { app } }, critical: true });
  const over = (guard: Evictd) =>
    guard.until('the shutdown record "over" is written', () => guard.journal().some(({ phase }) => phase === 'over'));

  test('containerd stops pods in order, each with its own grace period, and keeps them', async () => {
    const { login, pod, guarding } = await scene();
    const db = await pod('db', onTerm('exit 0'));
    const web = await pod('web', onTerm('sleep 1; exit 0'));
    const deaf = await pod('deaf', onTerm(':'));
    const guard = await guarding([critical('db'), { match: { labels: { app: 'deaf' } }, terminationGracePeriodSeconds: 2 * SLOWNESS }]);
    await guard.until('the containers have started', () => [db, web, deaf].every((one) => said(one).includes('begun')));

    await begins(login);
    await over(guard);
    const ended = guard.journal().filter(({ type }) => type === 'ended');
    const named = (name: string) => ended.find(({ workload }) => (workload as { name: string }).name === name);
    expect(ended).toHaveLength(3);
    expect(named('default/web')).toMatchObject({ result: 'ended', inTime: true });
    expect(named('default/deaf')).toMatchObject({ result: 'killed', inTime: false });
    expect(ended.at(-1)).toMatchObject({ workload: { name: 'default/db' }, result: 'ended', inTime: true });
    // If the runtime was slow, evictd sent SIGTERM, too.
    expect(new Set(said(deaf))).toEqual(new Set(['begun', 'term']));
    expect([web, db].map((one) => said(one))).toEqual(Array<string[]>(2).fill(['begun', 'term']));
    expect(await runtime.pods()).toHaveLength(3);
    expect(guard.journal().filter(({ type }) => type === 'removal')).toEqual([]);
  });

  test('pods of a kubelet are left to the kubelet, even if a rule makes one critical', async () => {
    const { login, pod, guarding } = await scene();
    const kube = await pod('kube', onTerm('exit 0'), { 'io.kubernetes.pod.uid': 'u' });
    const guard = await guarding([critical('kube')]);
    await guard.until('the container has started', () => said(kube).includes('begun'));
    await begins(login);
    await over(guard);
    expect(guard.journal().find(({ phase }) => phase === 'begins')).toMatchObject({ leftAlone: [{ name: 'default/kube' }] });
    expect(said(kube)).toEqual(['begun']);
  });

  test('after a power failure the eviction is lost, its container is not a workload, and reclaim removes it', async () => {
    const { pod, guarding } = await scene();
    const deaf = await pod('deaf', onTerm(':'));
    const before = await guarding([]);
    const { directory, configFile } = before;
    await before.until('the container has started', () => said(deaf).includes('begun'));
    expect((await evictd('evict', 'default/deaf', '--grace', '600s', '--config', configFile)).code).toBe(0);
    await before.until('it got SIGTERM', () => said(deaf).includes('term'));
    await before.stop('SIGKILL');
    await runtime.loseAllButDisk();
    rmSync(join(directory, 'run'), { recursive: true });

    await runtime.run();
    expect(runtime.containers()).toHaveLength(2); // the other is that of the pod itself
    const after = await guarding([], { directory, through: ANOTHER_BOOT });
    expect(await after.recorded('outcome')).toMatchObject({ decision: 1, result: 'lost', victim: { name: 'default/deaf' } });
    expect((await evictd('evict', 'default/deaf', '--config', configFile)).code).toBe(66);
    expect(await evictd('reclaim', '--step', 'containers', '--config', configFile)).toMatchObject({ code: 0, stderr: '' });
    expect([runtime.containers(), await runtime.pods()]).toEqual([[], []]);
  });
});
