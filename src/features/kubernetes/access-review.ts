import type { AccessAttributes } from '../../core/kubernetes/needed-access.js';
import { documentOf, member, textOf } from '../../kubernetes/document.js';
import type { ApiClient } from './client/api-client.js';

const WITHIN_MS = 2_500;

/** Whether the credential may do it. Rejects as `ask`, and with an answer that is not a review. */
export async function isPermitted(client: Pick<ApiClient, 'ask'>, resourceAttributes: AccessAttributes): Promise<boolean> {
  const { status, body } = await client.ask({
    method: 'POST',
    path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    body: { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', spec: { resourceAttributes } },
    withinMs: WITHIN_MS,
  });
  const answer = documentOf(body);
  if (status !== 201) throw new Error(`it answers ${String(status)}: ${textOf(member(answer, 'message'))}`);
  return member(member(answer, 'status'), 'allowed').value === true;
}
