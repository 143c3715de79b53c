import { expect, test } from 'vitest';
import type { ApiClient } from '../../../src/features/kubernetes/client/api-client.js';
import type { Json } from '../../../src/kubernetes/json.js';
import { readControllers } from '../../../src/features/kubernetes/read-controllers.js';

const CONTROLLER = 'pod-garbage-collector-controller';

/** An API server with the Lease of `evictd controller`, renewed now, and perhaps that or a pod of a kube-controller-manager. */
function server(managerRenewedMsAgo: number | undefined, items: readonly Json[] = []): ApiClient['ask'] {
  const lease = (msAgo: number) => ({
    metadata: { annotations: { 'evictd.dev/controllers': CONTROLLER } },
    spec: { holderIdentity: 'a', leaseDurationSeconds: 15, renewTime: new Date(Date.now() - msAgo).toISOString() },
  });
  return ({ path }) => {
    if (path.endsWith('/evictd-controller')) return Promise.resolve({ status: 200, body: lease(0) });
    if (path.endsWith('/pods')) return Promise.resolve({ status: 200, body: { items } });
    if (managerRenewedMsAgo === undefined) return Promise.resolve({ status: 404, body: undefined });
    return Promise.resolve({ status: 200, body: lease(managerRenewedMsAgo) });
  };
}

test.each<[what: string, managerRenewedMsAgo: number | undefined, twice: readonly string[]]>([
  ['runs where its Lease is renewed', 0, [CONTROLLER]],
  ['has ended where its Lease was renewed long ago', 3_600_000, []],
])('a kube-controller-manager %s', async (_, managerRenewedMsAgo, twice) => {
  const facts = await readControllers(server(managerRenewedMsAgo));
  expect(facts).toMatchObject({ kind: 'seen', active: [CONTROLLER], twice: twice.map((controller) => ({ controller })) });
  expect(facts).not.toHaveProperty('unseen');
});

test('a kube-controller-manager without a Lease and without a pod cannot be seen', async () => {
  const facts = await readControllers(server(undefined));
  expect(facts).toEqual({ kind: 'seen', active: [CONTROLLER], twice: [], unseen: expect.stringContaining('has no Lease') as string });
});

test('a kube-controller-manager without leader election has no Lease, but its pod shows that it runs', async () => {
  const command = ['kube-controller-manager', '--leader-elect=false'];
  const pod = { metadata: { name: 'manager' }, spec: { containers: [{ name: 'm', command }] }, status: { phase: 'Running' } };
  const facts = await readControllers(server(undefined, [pod]));
  expect(facts).toMatchObject({ kind: 'seen', twice: [{ controller: CONTROLLER }] });
});

test.each<[what: string, forbidden: RegExp, said: string | undefined]>([
  ['the Lease of evictd controller', /evictd-controller$/, 'get the Lease evictd-controller of the namespace own'],
  ['the Lease in another namespace', /own.*evictd-controller$/, undefined],
  [
    'kube-controller-manager',
    /kube-controller-manager$/,
    'see kube-controller-manager: for the Lease of kube-controller-manager it answers 403',
  ],
])('a credential that may not see %s', async (_, forbidden, said) => {
  const ask = server(0);
  const facts = await readControllers((request) => {
    return forbidden.test(request.path) ? Promise.resolve({ status: 403, body: undefined }) : ask(request);
  }, 'own');
  expect(facts).toEqual(
    said === undefined ? expect.objectContaining({ kind: 'seen' }) : { kind: 'forbidden', what: expect.stringContaining(said) as string },
  );
});
