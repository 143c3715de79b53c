import { failure, type Answer } from './answers.js';
import type { Target } from './node-authorizer.js';
import type { ApiObject } from './objects.js';

/** Beside metadata.name and metadata.namespace (pkg/apis/core/v1/conversion.go). */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  pods: ['spec.nodeName', 'spec.restartPolicy', 'spec.schedulerName', 'spec.serviceAccountName', 'spec.hostNetwork', 'status.phase'],
  nodes: ['spec.unschedulable'],
  events: ['reason', 'type', 'regarding.kind', 'regarding.name', 'regarding.namespace', 'regarding.uid'],
};

interface Requirement {
  readonly key: string;
  readonly isEqual: boolean;
  /** undefined: the key is there. */
  readonly value: string | undefined;
}

function requirements(query: URLSearchParams, selector: 'fieldSelector' | 'labelSelector'): readonly Requirement[] {
  const parts = (query.get(selector) ?? '').split(',').filter(Boolean);
  return parts.map((part) => {
    const [, key = '', operator, value] = /^(.*?)(?:(!=|==?)(.*))?$/.exec(part) ?? [];
    return { key, isEqual: operator !== '!=', value };
  });
}

/** The answer to a selector by a field that the resource does not have for this. undefined: it is fine. */
export function fieldLabelProblem(query: URLSearchParams, { resource: { name } }: Target): Answer | undefined {
  const known = ['metadata.name', 'metadata.namespace', ...(FIELDS[name] ?? [])];
  const unknown = requirements(query, 'fieldSelector').find(({ key }) => !known.includes(key));
  return unknown && failure(400, `field label not supported: ${unknown.key}`);
}

export function isSelected(object: ApiObject, query: URLSearchParams): boolean {
  const valueAt = (path: string): unknown =>
    path.split('.').reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], object);
  const labels = (object.metadata.labels ?? {}) as Record<string, string>;
  return (
    requirements(query, 'fieldSelector').every(({ key, isEqual, value }) => (textOf(valueAt(key)) === value) === isEqual) &&
    requirements(query, 'labelSelector').every(({ key, isEqual, value }) =>
      value === undefined ? key in labels : (labels[key] === value) === isEqual,
    )
  );
}

/** What is missing compares as an empty text. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value);
}
