import { CONTROLLERS, LEASE_NAME, PARTS_ANNOTATION, type ControllersFacts } from '../../core/cluster/controller.js';
import { leaseOf } from '../../kubernetes/cluster-document.js';
import { documentOf, timeOf } from '../../kubernetes/document.js';
import type { ApiClient } from './client/api-client.js';
import { ManagerWatch } from './manager-watch.js';

/** Of the manifests, and the default of the command. */
const NAMESPACES = ['evictd', 'kube-system'];
const WITHIN_MS = 2_500;
/** A leader renews its Lease each 2 s. */
const FRESH_MS = 60_000;

/** Which parts run twice. undefined: no `evictd controller` leads, or the credential may not see it. Rejects without an answer. */
export async function readControllers(ask: ApiClient['ask']): Promise<ControllersFacts | undefined> {
  for (const namespace of NAMESPACES) {
    const path = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/${LEASE_NAME}`;
    const answer = await ask({ method: 'GET', path, withinMs: WITHIN_MS });
    if (answer.status !== 200) continue;
    const { spec, annotations } = leaseOf(answer.body);
    if (spec.holderIdentity === '' || !isFresh(spec.renewTime)) continue;
    const written = annotations[PARTS_ANNOTATION];
    const listed = typeof written === 'string' ? written.split(',') : [];
    const active = CONTROLLERS.filter((controller) => listed.includes(controller));
    const manager = new ManagerWatch(ask, process.hrtime.bigint.bind(process.hrtime));
    await manager.poll();
    const parts = manager.parts(0);
    const isAbandoned = manager.renewTime !== '' && !isFresh(manager.renewTime);
    const twice = active.flatMap((controller) => {
      const { runs, why } = parts.get(controller) ?? { runs: false, why: '' };
      return runs === true && !isAbandoned ? [{ controller, why }] : [];
    });
    return { active, twice };
  }
  return undefined;
}

/** By the wall clock: doctor looks once, and sees no change. */
function isFresh(renewTime: string): boolean {
  const renewedNs = timeOf(documentOf(renewTime || undefined)) ?? 0n;
  return Date.now() - Number(renewedNs / 1_000_000n) <= FRESH_MS;
}
