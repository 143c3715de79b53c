import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { PendingDeletions } from '../../../src/core/kubernetes/pending-deletion.js';
import type { Decision } from '../../../src/core/decide/eviction.js';
import { ApiClient } from '../../../src/features/kubernetes/client/api-client.js';
import { kubeconfigAccess } from '../../../src/features/kubernetes/client/kubeconfig.js';
import { DeletionQueue } from '../../../src/features/kubernetes/reports/deletion-queue.js';
import type { Ask } from '../../../src/features/kubernetes/reports/report-ports.js';
import { ApiPodEvictions } from '../../../src/features/kubernetes/reports/pod-evictions.js';
import { orderedSignals } from '../../../src/monitor/ports/sent-signals.js';
import { FakeApiServer } from '../../support/kubernetes/api-server.js';
import type { ApiObject } from '../../support/kubernetes/objects.js';
import { PART } from './pod.js';

/** An API server with one running pod, and a client of it. */
export async function cluster(user: object = { token: 'agent-token' }) {
  const directory = mkdtempSync('/tmp/evictd-kubernetes-');
  const server = await FakeApiServer.start();
  const client = new ApiClient(kubeconfigAccess(server.kubeconfig(join(directory, 'config'), user)));
  onTestFinished(async () => {
    client.close();
    await server.away();
    rmSync(directory, { recursive: true });
  });
  const { uid, namespace, name, labels } = PART;
  const conditions = [{ type: 'Ready', status: 'True' }];
  const spec = { nodeName: 'node-1', terminationGracePeriodSeconds: 30, containers: [{ name: 'main' }] };
  server.store.put('pods', { metadata: { name, namespace, uid, labels }, spec, status: { phase: 'Running', conditions } });
  const ask: Ask = client.ask.bind(client);
  return { server, client, ask, pod: (): ApiObject | undefined => server.store.get('pods', namespace, name) };
}

/** A disruption budget for the pod, which permits so many disruptions. */
export function budget({ server }: Pick<Cluster, 'server'>, name: string, disruptionsAllowed: number): void {
  const status = { disruptionsAllowed, currentHealthy: 1, desiredHealthy: 1, observedGeneration: 1 };
  const spec = { selector: { matchLabels: PART.labels } };
  server.store.put('poddisruptionbudgets', { metadata: { name, namespace: PART.namespace, generation: 1 }, spec, status });
}

export type Cluster = Awaited<ReturnType<typeof cluster>>;

/**
 * An evictd by what it has saved.
 *
 * @param decisions  in flight when it starts
 * @param away  why they do not continue: they were killed, and no evictd ran for too long
 */
export function agent(
  { ask }: Pick<Cluster, 'ask'>,
  saved: { section: unknown },
  budgets: 'respect' | 'ignore' = 'respect',
  decisions: Decision[] = [],
  published = () => Promise.resolve(),
  away?: string,
  isAway = () => false,
) {
  const log: string[] = [];
  const note = (line: string): number => log.push(line);
  const keep = (value: unknown): void => {
    saved.section = value;
  };
  const section = { before: (saved.section ?? []) as PendingDeletions, keep };
  const inFlight = new Set(decisions.map(({ serial }) => serial));
  const onRestart = (): undefined => undefined;
  const queue = new DeletionQueue({ ask, section, log: { info: note, warn: note }, onRestart, pauseMs: () => 5 }, inFlight);
  const evictions = decisions.map((one) => ({
    decision: one,
    phase: one.graceNs > 0n ? ('terminating' as const) : ('dying' as const),
    ...{ phaseSinceNs: 0n, peakUsageBytes: 0n, usageBytes: 0n, usageStillSinceNs: 0n },
  }));
  const isKilled = away !== undefined;
  const signals = new Map(isKilled ? decisions.map(({ serial }) => [serial, orderedSignals(0n, 0n)]) : []);
  const abandoned = new Map(isKilled ? decisions.map(({ serial }) => [serial, away]) : []);
  const restored = { state: { evictions }, signals, abandoned };
  const violated: string[] = [];
  const refused: string[] = [];
  const metrics = {
    budgetViolated: (budget: string) => violated.push(budget),
    podEvictionRefused: (reason: string) => refused.push(reason),
  };
  const calls = new ApiPodEvictions({ ask, queue, budgets, isAway, published, metrics, pauseMs: () => 5 }, restored);
  onTestFinished(() => {
    calls.close();
  });
  return { queue, calls, log, violated, refused };
}
