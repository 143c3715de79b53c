import { randomUUID } from 'node:crypto';
import type { CriClient } from './client.js';
import type { Table } from './protobuf.js';
import type { Call } from './runtime-calls.js';

const WITHIN_MS = 60_000;
/** In case evictd ends before it has deleted the lease. */
const EXPIRES_AFTER_MS = 120_000;

/** containerd's own API (api/services/leases/v1/leases.proto), in the namespace of its CRI plugin. */
const NAMESPACE = { 'containerd-namespace': 'k8s.io' };
const CREATE_LEASE = {
  path: '/containerd.services.leases.v1.Leases/Create',
  input: { id: [1, 'text'], labels: [3, 'texts'] },
  output: {},
  headers: NAMESPACE,
} as const satisfies Call<Table, Table>;
const DELETE_LEASE = {
  path: '/containerd.services.leases.v1.Leases/Delete',
  input: { id: [1, 'text'], sync: [2, 'flag'] },
  output: {},
  headers: NAMESPACE,
} as const satisfies Call<Table, Table>;

/**
 * Waits until the layers of removed containers are deleted. containerd deletes them in the background, after a pause of
 * fifty times the last collection (gc/scheduler, v1.6.20). Deleting any lease with `sync` collects before the answer.
 * CRI-O has no leases and deletes layers with the container. Never rejects.
 */
export async function deleteRemovedLayers(client: CriClient): Promise<void> {
  const id = `evictd-${randomUUID()}`;
  const labels = { 'containerd.io/gc.expire': new Date(Date.now() + EXPIRES_AFTER_MS).toISOString() };
  try {
    await client.ask(CREATE_LEASE, { id, labels }, WITHIN_MS);
    await client.ask(DELETE_LEASE, { id, sync: true }, WITHIN_MS);
  } catch {
    // containerd collects by itself later
  }
}
