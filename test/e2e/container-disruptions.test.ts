import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { Containerd, hasContainerd, type Pod, type PodOptions } from '../support/cri/containerd.js';
import { SLOWNESS } from '../support/slowness.js';
import { evictd as command, Evictd, victimOf, type JournalLine } from './evictd.js';
import { ON, testNode } from './node.js';
import { aWhile } from './wait.js';

// A real containerd and real pods, which end although the node is not short of anything.

/** Logs the start and SIGTERM; `then` runs after SIGTERM. */
const onTerm = (then: string): string => `trap 'echo term; ${then}' TERM; echo begun; while :; do sleep 1000 & wait; done`;
const ORDERLY = onTerm('exit 0');
const DEAF = onTerm(':');

const said = ({ logs }: Pod, container = 'app'): readonly string[] =>
  readFileSync(`${logs}/${container}.log`, 'utf8').match(/begun|term/g) ?? [];
const typed = (guard: Evictd, type: string): readonly JournalLine[] => guard.journal().filter((line) => line.type === type);
const victims = (guard: Evictd, type: string) => typed(guard, type).map(victimOf);
const app = (name: string) => ({ match: { labels: { app: name } } });

describe.runIf(hasContainerd)(`disruptions of containers (${ON}; where containerd is)`, () => {
  const runtime = new Containerd();
  beforeAll(() => runtime.start());
  afterAll(() => runtime.remove());

  const scene = async (names: readonly string[], plan: { readonly scripts?: Record<string, string>; readonly config: object }) => {
    const node = testNode();
    onTestFinished(() => runtime.clear()); // before the cgroup is removed: a runtime keeps containers that it could not end
    const start = (name: string, more: Partial<PodOptions> = {}): Promise<Pod> => {
      const script = plan.scripts?.[name] ?? ORDERLY;
      const options = { name, cgroup: node.path, ownCgroup: true, labels: { app: name.split('-')[0] ?? '' }, containers: { app: script } };
      return runtime.pod({ ...options, ...more });
    };
    const pods = await Promise.all(names.map((name) => start(name)));
    const source = { node: { cgroup: node.path }, workloads: [{ cri: { endpoint: runtime.endpoint } }], monitoringInterval: '1s' };
    const guard = await new Evictd({ config: { ...source, ...plan.config } }).guarding();
    const run = (...args: readonly string[]) => command(...args, '--config', guard.configFile);
    await guard.until('the containers have started', () => pods.every((pod) => said(pod).includes('begun')));
    return { guard, pods, start, run };
  };

  test('a NoExecute taint ends pods at once, after tolerationSeconds or never; ended pods are removed, and later ones end too', async () => {
    const tolerations = (seconds?: number) => [
      { key: 'maintenance', operator: 'Exists', effect: 'NoExecute', ...(seconds !== undefined && { tolerationSeconds: seconds }) },
    ];
    const rules = [
      { ...app('patient'), tolerations: tolerations(6) },
      { ...app('tolerant'), tolerations: tolerations() },
    ];
    const { guard, pods, start, run } = await scene(['plain', 'patient', 'tolerant'], { config: { rules } });
    const [plain, patient, tolerant] = pods as [Pod, Pod, Pod];
    expect((await run('taint', 'maintenance:NoExecute')).code).toBe(0);
    await guard.removed('default/plain');
    expect([said(plain), said(tolerant)]).toEqual([['begun', 'term'], ['begun']]);
    expect(typed(guard, 'taint')).toMatchObject([{ event: 'set' }, { event: 'waits', seconds: 6, workload: { name: 'default/patient' } }]);
    await guard.removed('default/patient');
    expect(said(patient)).toEqual(['begun', 'term']);
    const late = await start('late');
    await guard.removed('default/late');
    expect(said(late)).toContain('begun');
    expect(await runtime.pods()).toEqual([tolerant.id]);
    expect(victims(guard, 'decision')).toEqual(['default/plain', 'default/patient', 'default/late']);
    expect(typed(guard, 'outcome').map(({ result }) => result)).toEqual(['killed', 'killed', 'killed']);
    expect(victims(guard, 'escalation')).toEqual([]);
  });

  test('evict ends a pod that has just started, not its neighbour, one that ignores SIGTERM, and not one of a kubelet', async () => {
    const { guard, start, run } = await scene(['deaf'], { scripts: { deaf: DEAF }, config: { monitoringInterval: '10m' } });
    const two = await start('two', { ownCgroup: false, containers: { app: ORDERLY, side: ORDERLY } });
    await guard.until('both have started', () => ['app', 'side'].every((name) => said(two, name).includes('begun')));
    const done = await run('evict', 'default/two/app', 'default/deaf', '--grace', `${String(4 * SLOWNESS)}s`, '--wait');
    expect([done.code, done.stderr]).toEqual([0, '']);
    expect([said(two), said(two, 'side')]).toEqual([['begun', 'term'], ['begun']]);
    await guard.removed('default/deaf');
    await guard.removed('default/two/app');
    expect([...victims(guard, 'decision')].sort()).toEqual(['default/deaf', 'default/two/app']);
    expect((await run('evict', 'default/deaf')).code).toBe(66);
    await start('kube', { labels: { 'io.kubernetes.pod.uid': 'u' } });
    const kubelet = await run('evict', 'default/kube');
    expect([kubelet.code, kubelet.stderr]).toEqual([1, expect.stringContaining('a kubelet manages it')]);
  });

  test('drain under a budget ends the next pod when a replacement of the first is up', async () => {
    const config = {
      rules: [{ ...app('db'), critical: true }],
      disruptionBudgets: [{ name: 'queue', ...app('queue'), minAvailable: 1 }],
    };
    const { guard, start, run } = await scene(['queue-1', 'queue-2', 'db'], { config });
    const draining = run('drain');
    const first = await guard.recorded('outcome');
    await aWhile();
    expect(victims(guard, 'decision')).toEqual([victimOf(first)]);
    await start('queue-3');
    const { code, stdout, stderr } = await draining;
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain('db stays: critical');
    expect(stdout).toContain('waits: the disruption budget queue needs 1 healthy workloads and has 1 currently');
    expect([...victims(guard, 'decision')].sort()).toEqual(['default/queue-1', 'default/queue-2']);
    await guard.until('what has ended is removed', async () => (await runtime.pods()).length === 2);
    expect((await run('uncordon')).code).toBe(0);
  });

  test('admit --preempt for a pod ends the least important containers, and their requests are free', async () => {
    const rules = [
      { ...app('web'), requests: { memory: '256Mi' } },
      { ...app('batch'), priority: -10, requests: { memory: '128Mi' } },
    ];
    const { guard, pods, run } = await scene(['web', 'batch-1', 'batch-2'], { config: { rules } });
    const file = join(guard.directory, 'pod.json');
    const resources = { requests: { memory: '100Mi' } };
    const spec = { priority: 1_000, containers: [{ name: 'db', resources }] };
    writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'db', namespace: 'default' }, spec }));
    const admit = (...args: readonly string[]) => run('admit', '--preempt', '--pod', file, ...args);
    const dry = await admit('--dry-run');
    expect([dry.code, dry.stdout]).toEqual([
      0,
      expect.stringMatching(/default\/batch-\d \(priority -10, 128Mi\) would end for its request of 100Mi/),
    ]);
    expect(typed(guard, 'decision')).toEqual([]);
    const admitted = await admit();
    expect([admitted.code, admitted.stderr]).toEqual([0, '']);
    expect((await admit()).stdout).toContain('its request of 100Mi fits');
    expect(pods.flatMap((pod) => said(pod)).filter((word) => word === 'term')).toHaveLength(1);
    expect(victims(guard, 'decision')).toEqual([expect.stringMatching(/^default\/batch-\d$/)]);
    expect(typed(guard, 'decision')).toMatchObject([{ disruption: { reason: 'preemption' } }]);
    await guard.until('it is removed', async () => (await runtime.pods()).length === 2);
  });
});
