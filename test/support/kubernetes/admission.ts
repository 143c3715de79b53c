import { failure, type Answer } from './answers.js';
import type { Target } from './node-authorizer.js';
import type { ApiObject } from './objects.js';
import { appliedConflict, mergePatched, strategicPatched } from './patches.js';

export function patchedBy(contentType: string, object: ApiObject, patch: unknown): unknown {
  switch (contentType.split(';')[0]) {
    case 'application/merge-patch+json':
      return mergePatched(object, patch);
    // A forced apply of one owner replaces spec.taints as well: the list is atomic.
    case 'application/strategic-merge-patch+json':
    case 'application/apply-patch+yaml':
      return strategicPatched(object, patch);
    default:
      return undefined;
  }
}

export function forbidden({ resource, name = '' }: Target, why: string | undefined): Answer | undefined {
  return why === undefined ? undefined : failure(403, `${resource.name} "${name}" is forbidden: ${why}`, { name, kind: resource.name });
}

export function namespaceProblem({ namespace }: Target, metadata: ApiObject['metadata']): Answer | undefined {
  if (metadata.namespace === undefined || metadata.namespace === namespace) return undefined;
  return failure(400, 'the namespace of the provided object does not match the namespace sent on the request');
}

export function isApply(contentType: string): boolean {
  return contentType.startsWith('application/apply-patch+yaml');
}

/** Server-side apply: the manager of the fields is named, and without `force` no field of another manager changes. */
export function applyProblem(query: URLSearchParams, given: Partial<ApiObject>, object: ApiObject): Answer | undefined {
  const invalid = 'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch';
  if ((query.get('fieldManager') ?? '') === '') return failure(422, invalid);
  if (given.kind === undefined || given.apiVersion === undefined) return failure(400, 'invalid object type: an apply patch has a kind');
  const conflict = query.get('force') === 'true' ? undefined : appliedConflict(object, given);
  return conflict === undefined ? undefined : failure(409, `Apply failed with 1 conflict: conflict with another manager: ${conflict}`);
}
