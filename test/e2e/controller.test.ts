import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, onTestFinished, test } from 'vitest';
import { aPod } from '../support/kubernetes/a-pod.js';
import { FakeApiServer, NODE } from '../support/kubernetes/api-server.js';
import type { ApiObject } from '../support/kubernetes/objects.js';
import { EVICTD, scratchDirectory } from './evictd.js';
import { until } from './wait.js';

const TAINT = { key: 'maintenance', effect: 'NoExecute' };
const HELD = ['--leader-elect-lease-duration', '4s', '--leader-elect-renew-deadline', '3s', '--leader-elect-retry-period', '300ms'];

/** A running `evictd controller`. */
class Controller {
  readonly child: ChildProcess;
  readonly log: string[] = [];
  #port = 0;

  constructor(kubeconfig: string, args: readonly string[] = []) {
    const command = [EVICTD, 'controller', '--kubeconfig', kubeconfig, '--listen', '127.0.0.1:0', '--log-format', 'json', ...HELD, ...args];
    this.child = spawn(process.execPath, command, { stdio: ['ignore', 'inherit', 'pipe'] });
    if (this.child.stderr) {
      createInterface({ input: this.child.stderr }).on('line', (line) => {
        const { msg } = JSON.parse(line) as { msg: string };
        this.log.push(msg);
        this.#port ||= Number(/^metrics are served on .*:(\d+)$/.exec(msg)?.[1] ?? 0);
      });
    }
    onTestFinished(async () => {
      await this.end('SIGKILL');
    });
  }

  async end(signal: NodeJS.Signals): Promise<unknown> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return this.child.exitCode;
    const exit = once(this.child, 'exit');
    this.child.kill(signal);
    const [code, by] = (await exit) as [number | null, string | null];
    return code ?? by;
  }

  says(what: string | RegExp): boolean {
    return this.log.some((line) => (typeof what === 'string' ? line.includes(what) : what.test(line)));
  }

  get(path: string): Promise<string> {
    return new Promise((resolve) => {
      if (this.#port === 0) {
        resolve('');
        return;
      }
      get({ host: '127.0.0.1', port: this.#port, path, agent: false }, (response) => {
        let text = `${String(response.statusCode)} `;
        response.setEncoding('utf8').on('data', (part: string) => (text += part));
        response.on('end', () => resolve(text));
      }).on('error', () => resolve(''));
    });
  }

  async metric(series: string): Promise<number | undefined> {
    const line = (await this.get('/metrics')).split('\n').find((each) => each.startsWith(`evictd_controller_${series} `));
    return line === undefined ? undefined : Number(line.slice(line.lastIndexOf(' ') + 1));
  }
}

async function setting() {
  const directory = scratchDirectory();
  const server = await FakeApiServer.start();
  onTestFinished(async () => {
    await server.away();
    rmSync(directory, { recursive: true, force: true });
  });
  const kubeconfig = server.kubeconfig(join(directory, 'kubeconfig'));
  const controllers: Controller[] = [];
  const start = (...args: string[]): Controller => {
    const controller = new Controller(kubeconfig, args);
    controllers.push(controller);
    return controller;
  };
  const seen = (): string => controllers.map(({ log }, at) => `${String(at)}: ${log.join(`\n${String(at)}: `)}`).join('\n');
  const wait = (what: string, happened: () => boolean | Promise<boolean>): Promise<void> => until(what, happened, seen);
  const pod = (name: string): ApiObject | undefined => server.store.get('pods', 'default', name);
  const isDeleted = (name: string): boolean => pod(name)?.metadata.deletionTimestamp !== undefined;
  const deletes = (name: string): number =>
    server.received.filter(({ method, path }) => method === 'DELETE' && path.endsWith(`/pods/${name}`)).length;
  const node = (name: string, spec: object, status: string, taints: readonly object[] = []): void => {
    const conditions = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'].map((type) => ({
      ...{ type, status: type === 'Ready' ? status : 'False', lastHeartbeatTime: '2026-01-02T03:04:05Z' },
    }));
    server.store.put('nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name }, spec: { ...spec, taints }, status: { conditions } });
  };
  const taintsOf = (name: string): string[] =>
    ((server.store.get('nodes', undefined, name)?.spec?.taints ?? []) as { key: string; effect: string }[])
      .map(({ key, effect }) => `${key.replace('node.kubernetes.io/', '')}:${effect}`)
      .sort();
  node(NODE, {}, 'True');
  const metadata = { name: 'kube-controller-manager', namespace: 'kube-system' };
  server.store.put('leases', { metadata, spec: { holderIdentity: '', leaseDurationSeconds: 15 } }); // it was given up
  return { server, start, wait, pod, isDeleted, deletes, node, taintsOf };
}

const tolerating = (name: string, tolerationSeconds?: number): ApiObject =>
  aPod(name, { spec: { tolerations: [{ ...TAINT, operator: 'Exists', ...(tolerationSeconds !== undefined && { tolerationSeconds }) }] } });

describe('evictd controller', () => {
  test('evicts by NoExecute taints, and a second process continues after a kill of the leader without deleting twice', async () => {
    const { server, start, wait, pod, isDeleted, deletes, node } = await setting();
    const [first, second] = [start('--node-lifecycle', 'off'), start('--node-lifecycle', 'off')];
    const leads = (one: Controller): Promise<boolean> => one.metric('leader_election_master_status').then((value) => value === 1);
    await wait('one of them leads', async () => (await leads(first)) !== (await leads(second)));
    const [leader, other] = (await leads(first)) ? [first, second] : [second, first];
    await wait(
      'it has listed the cluster',
      async () => (await leader.get('/readyz')).startsWith('200') && (await leader.metric('synced')) === 1,
    );
    await wait('its part runs', async () => (await leader.metric('part_active{controller="taint-eviction-controller"}')) === 1);
    for (const one of [aPod('none'), tolerating('brief', 2), tolerating('long', 5), tolerating('longest', 3_600), tolerating('ever')])
      server.store.put('pods', one);
    const taintedMs = Date.now();
    node(NODE, {}, 'True', [TAINT]);
    await wait('the pod without a toleration is deleted', () => isDeleted('none'));
    expect(pod('none')?.status?.conditions).toMatchObject([{ type: 'DisruptionTarget', status: 'True', reason: 'DeletionByTaintManager' }]);
    expect(pod('none')?.metadata.deletionGracePeriodSeconds).toBe(30);
    await wait('the one that tolerates it for 2 s is deleted', () => isDeleted('brief'));
    expect(Date.now() - taintedMs).toBeGreaterThanOrEqual(2_000);
    await leader.end('SIGKILL');
    await wait('the other one leads', () => leads(other));
    await wait('it deletes the pod that waited', () => isDeleted('long'));
    node(NODE, {}, 'True');
    await wait('the eviction that waits is cancelled', () => other.says('default/longest is cancelled'));
    expect(['none', 'brief', 'long', 'longest', 'ever'].map(deletes)).toEqual([1, 1, 1, 0, 0]);
    const events = server.store.list('events').map(({ reason, note }) => [reason, note]);
    expect(events).toContainEqual(['TaintManagerEviction', 'Marking for deletion Pod default/none']);
    expect(await other.end('SIGTERM')).toBe(0);
    expect(server.store.get('leases', 'kube-system', 'evictd-controller')?.spec).toMatchObject({ holderIdentity: '' });
  });

  test('does nothing more as a leader that was stopped and continued, because another process leads', async () => {
    const { server, start, wait, isDeleted, deletes, node } = await setting();
    const first = start();
    await wait('the first one runs its parts', () => first.says('taint-eviction-controller runs'));
    const second = start('--listen', 'off');
    server.store.put('pods', aPod('web'));
    first.child.kill('SIGSTOP');
    await wait('the second one runs its parts', () => second.says('taint-eviction-controller runs'));
    const before = server.received.length;
    node(NODE, {}, 'True', [TAINT]);
    await wait('the second one deletes the pod', () => isDeleted('web'));
    first.child.kill('SIGCONT');
    await wait('the first one knows', () => first.says('does not lead any more'));
    expect(await first.metric('leader_election_master_status')).toBe(0);
    expect(deletes('web')).toBe(1);
    const marks = server.received.slice(before).filter(({ method, path }) => method === 'PATCH' && path.endsWith('/status'));
    expect(marks).toHaveLength(1);
  });

  test('taints nodes by their conditions, and deletes pods by force that a node out of service has left', async () => {
    const { server, start, wait, pod, deletes, node, taintsOf } = await setting();
    const foreign = { key: 'other/x', effect: 'NoExecute', timeAdded: '2026-01-02T03:04:05Z' };
    const lost = { key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' };
    node('bad', { unschedulable: true }, 'False', [foreign, lost]);
    server.store.put('pods', aPod('stuck', { metadata: { deletionTimestamp: '2026-01-02T03:04:05Z' }, spec: { nodeName: 'bad' } }));
    const phases: unknown[] = [];
    server.store.watch(({ type, object }) => {
      if (object.metadata.name === 'stuck') phases.push(type === 'DELETED' ? 'gone' : object.status?.phase);
    });
    const controller = start('--taint-eviction', 'off', '--node-monitor-grace-period', '1h');
    const all = [
      'not-ready:NoExecute',
      'not-ready:NoSchedule',
      'other/x:NoExecute',
      'out-of-service:NoExecute',
      'unschedulable:NoSchedule',
    ];
    await wait('the node has all its taints', () => taintsOf('bad').join() === all.join());
    expect(server.store.get('nodes', undefined, 'bad')?.spec?.taints).toContainEqual(foreign);
    await wait('the pod is gone', () => pod('stuck') === undefined);
    expect(phases).toEqual(['Failed', 'gone']);
    expect(deletes('stuck')).toBe(1);
    node('bad', {}, 'True', [foreign]);
    await wait('a taint is left', () => taintsOf('bad').join() === 'other/x:NoExecute');
    expect(taintsOf(NODE)).toEqual([]);
    expect(await controller.metric('force_delete_pods_total{reason="out-of-service"}')).toBe(1);
  });

  test('marks a cluster whose nodes are all silent, and deletes no pod', async () => {
    const { server, start, wait, pod, taintsOf } = await setting();
    const conditions = [{ type: 'Ready', status: 'True' }];
    server.store.put('pods', aPod('web', { status: { conditions } }));
    const controller = start('--node-monitor-grace-period', '1s');
    await wait('the node is unreachable', () => taintsOf(NODE).join() === 'unreachable:NoSchedule');
    await wait('its pod is not ready', () => (pod('web')?.status?.conditions as { status: string }[])[0]?.status === 'False');
    expect(server.store.get('nodes', undefined, NODE)?.status?.conditions).toMatchObject(
      Array.from({ length: 4 }, () => ({ status: 'Unknown' })),
    );
    expect(await controller.metric('halted')).toBe(1);
    expect(pod('web')?.metadata.deletionTimestamp).toBeUndefined();
  });

  test('leaves controllers to kube-controller-manager that it runs, and continues after an API server was away', async () => {
    const { server, start, wait, isDeleted, node } = await setting();
    const renewTime = new Date().toISOString().replace('Z', '000Z');
    const spec = { holderIdentity: 'm', leaseDurationSeconds: 15, renewTime };
    server.store.put('leases', { metadata: { name: 'kube-controller-manager', namespace: 'kube-system' }, spec });
    const command = ['kube-controller-manager', '--controllers=*,-taint-eviction-controller'];
    const metadata = { namespace: 'kube-system', labels: { component: 'kube-controller-manager' } };
    const tolerations = [{ operator: 'Exists' }];
    server.store.put('pods', aPod('manager', { metadata, spec: { tolerations, containers: [{ name: 'm', command }] } }));
    server.store.put('pods', aPod('web'));
    const controller = start('--pod-gc', 'on');
    await wait('all parts are judged', () => ['taint-eviction', 'node-lifecycle'].every((part) => controller.says(`${part}-controller`)));
    const active = async (part: string): Promise<number | undefined> => controller.metric(`part_active{controller="${part}-controller"}`);
    expect([await active('taint-eviction'), await active('node-lifecycle'), await active('pod-garbage-collector')]).toEqual([1, 0, 1]);
    expect(controller.log).toContainEqual(expect.stringMatching(/pod-garbage-collector-controller runs: .*; both act/));
    await server.away();
    node(NODE, {}, 'True', [TAINT]);
    server.store.compact();
    await server.back();
    await wait('the taint is seen', () => isDeleted('web'));
  });
});
