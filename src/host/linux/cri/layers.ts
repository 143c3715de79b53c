import { randomUUID } from 'node:crypto';
import type { CriClient } from './client.js';
import type { Table } from './protobuf.js';
import type { Call } from './calls.js';

const WITHIN_MS = 60_000;
/** Should evictd end before it has deleted it. */
const EXPIRES_AFTER_MS = 120_000;

/** Of containerd's own API (api/services/leases/v1/leases.proto), in the namespace that its CRI plugin has. */
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
 * Has the layers of containers that were removed deleted, and waits for it. containerd does that in the background, after a pause of fifty times what the last time took (gc/scheduler, v1.6.20): till then nothing of them
 * has come back. Deleting any lease with `sync` has it done before the answer. Runtimes without leases (CRI-O) delete layers with the container. Never rejects: what fails here containerd makes up for later.
 */
export async function deleteRemovedLayers(client: CriClient): Promise<void> {
  const id = `evictd-${randomUUID()}`;
  const labels = { 'containerd.io/gc.expire': new Date(Date.now() + EXPIRES_AFTER_MS).toISOString() };
  try {
    await client.ask(CREATE_LEASE, { id, labels }, WITHIN_MS);
    await client.ask(DELETE_LEASE, { id, sync: true }, WITHIN_MS);
  } catch {
    // see above
  }
}
