import { CONTROLLERS, LEASE_NAME, PARTS_ANNOTATION, type ControllersFacts } from '../../core/cluster/controller.js';
import { leaseOf } from '../../kubernetes/cluster-document.js';
import { documentOf, timeOf } from '../../kubernetes/document.js';
import { messageOf } from '../../errors.js';
import type { ApiClient } from './client/api-client.js';
import { ManagerWatch } from './manager-watch.js';

/** The namespace of the manifests. */
const NAMESPACE = 'evictd';
/** The default of the command. */
const OUTSIDE = 'kube-system';
const WITHIN_MS = 2_500;
/** A leader renews its Lease each 2 s. */
const FRESH_MS = 60_000;

const FORBIDDEN = 403;

/**
 * Which parts run twice. undefined: no `evictd controller` leads. Rejects without an answer.
 *
 * @param ownNamespace  of evictd; undefined: it runs in no pod
 */
export async function readControllers(ask: ApiClient['ask'], ownNamespace?: string): Promise<ControllersFacts | undefined> {
  let forbidden: string | undefined;
  for (const namespace of [ownNamespace ?? NAMESPACE, OUTSIDE]) {
    const path = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/${LEASE_NAME}`;
    const answer = await ask({ method: 'GET', path, withinMs: WITHIN_MS });
    if (answer.status === FORBIDDEN) forbidden ??= `get the Lease ${LEASE_NAME} of the namespace ${namespace}`;
    if (answer.status !== 200) continue;
    const { spec, annotations } = leaseOf(answer.body);
    if (spec.holderIdentity === '' || !isFresh(spec.renewTime)) continue;
    const written = annotations[PARTS_ANNOTATION];
    const listed = typeof written === 'string' ? written.split(',') : [];
    const active = CONTROLLERS.filter((controller) => listed.includes(controller));
    const manager = new ManagerWatch(ask, process.hrtime.bigint.bind(process.hrtime));
    const failure = await manager.poll().catch((error: unknown) => messageOf(error));
    if (failure !== undefined) return { kind: 'forbidden', what: `see kube-controller-manager: ${failure}` };
    const parts = manager.parts(0);
    const isAbandoned = manager.renewTime !== '' && !isFresh(manager.renewTime);
    const twice = active.flatMap((controller) => {
      const { runs, why } = parts.get(controller) ?? { runs: false, why: '' };
      return runs === true && !isAbandoned ? [{ controller, why }] : [];
    });
    const unseen = active.flatMap((controller) => parts.get(controller) ?? []).find(({ runs }) => runs === 'unknown');
    return { kind: 'seen', active, twice, ...(unseen && { unseen: unseen.why }) };
  }
  return forbidden === undefined ? undefined : { kind: 'forbidden', what: forbidden };
}

/** Whether the Lease is fresh by the wall clock: doctor reads it once, and sees no change. */
function isFresh(renewTime: string): boolean {
  const renewedNs = timeOf(documentOf(renewTime || undefined)) ?? 0n;
  return Date.now() - Number(renewedNs / 1_000_000n) <= FRESH_MS;
}
