import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { failure, type Answer } from './answers.js';
import type { ApiObject } from './objects.js';

interface Validate {
  (data: unknown): boolean;
  readonly errors?: readonly { readonly instancePath: string; readonly message?: string; readonly params?: object }[] | null;
}

const requireFile = createRequire(import.meta.url);

/** By the name in Kubernetes' OpenAPI document. */
export function schemaOf(name: string): Validate {
  return schemaIn('kubernetes-models', `IoK8sApi${name}`);
}

/** Of a CustomResourceDefinition of Prometheus Operator (monitoring.coreos.com). */
export function monitoringSchemaOf(name: string): Validate {
  return schemaIn('@kubernetes-models/prometheus-operator', `MonitoringCoreosCom${name}`);
}

/** The packages export only classes, which do not report unknown fields. */
function schemaIn(name: string, schema: string): Validate {
  return (requireFile(resolve(`node_modules/${name}/_schemas/${schema}.js`)) as { readonly validate: Validate }).validate;
}

const SCHEMAS: Readonly<Record<string, string>> = {
  ...{ Pod: 'CoreV1Pod', Node: 'CoreV1Node', Event: 'EventsV1Event', Lease: 'CoordinationV1Lease', Eviction: 'PolicyV1Eviction' },
  ...{ PodDisruptionBudget: 'PolicyV1PodDisruptionBudget', SelfSubjectAccessReview: 'AuthorizationV1SelfSubjectAccessReview' },
};

const validateDeleteOptions = schemaIn('@kubernetes-models/apimachinery', 'IoK8sApimachineryPkgApisMetaV1DeleteOptions');

/**
 * The answer to a body that is no DeleteOptions (apis/meta/v1/validation: ValidateDeleteOptions). undefined: it is fine. A real server
 * ignores unknown fields. Here they are refused, because evictd would mean something by them.
 */
export function refusalOfDeleteOptions(options: object): Answer | undefined {
  const unread = new Set<string>();
  const { propagationPolicy, orphanDependents, dryRun } = options as Record<string, unknown>;
  if (!validateDeleteOptions(watched(options, unread))) return failure(400, JSON.stringify(validateDeleteOptions.errors));
  if (unread.size > 0) return failure(400, `DeleteOptions with an unknown field: ${[...unread].join(', ')}`);
  const invalid = (why: string): Answer => failure(422, `DeleteOptions.meta.k8s.io "" is invalid: ${why}`);
  if (propagationPolicy !== undefined && orphanDependents !== undefined) return invalid('orphanDependents and deletionPropagation');
  if (!['Foreground', 'Background', 'Orphan', undefined].includes(propagationPolicy as string)) return invalid('propagationPolicy');
  return Array.isArray(dryRun) && dryRun.some((each) => each !== 'All') ? invalid('dryRun') : undefined;
}

/** `value`, which notes in `unread` the fields that nothing has read. */
export function watched<T>(value: T, unread: Set<string>, at = ''): T {
  if (typeof value !== 'object' || value === null) return value;
  const inner = new Map(Object.entries(value).map(([key, one]) => [key, watched<unknown>(one, unread, `${at}/${key}`)]));
  for (const key of inner.keys()) unread.add(`${at}/${key}`);
  return new Proxy(value, {
    get: (of, key) => {
      unread.delete(`${at}/${String(key)}`);
      return inner.get(String(key)) ?? (Reflect.get(of, key) as unknown);
    },
  });
}

/** The answer to an object that is none of its kind, has an unknown field, or is no event as the server demands. undefined: it is fine. */
export function refusalOf(kind: string, object: ApiObject): Answer | undefined {
  const name = kind === 'Event' && object.apiVersion === 'v1' ? 'CoreV1Event' : SCHEMAS[kind];
  if (name === undefined) return undefined;
  const validate = schemaOf(name);
  const unread = new Set<string>();
  const invalid = (why: string): Answer => failure(422, `${kind} "${object.metadata.name}" is invalid: ${why}`);
  if (!validate(watched(object, unread))) return invalid(JSON.stringify(validate.errors));
  if (unread.size > 0) return failure(400, `strict decoding error: unknown field ${[...unread].map((field) => `"${field}"`).join(', ')}`);
  const why = kind === 'Event' ? eventProblem(object) : undefined;
  return why === undefined ? undefined : invalid(why);
}

/** As pkg/apis/core/validation/events.go demands of a new event of events.k8s.io/v1, and of one of v1 with eventTime. */
function eventProblem({ metadata, regarding, involvedObject = regarding, ...given }: ApiObject): string | undefined {
  const event: Record<string, unknown> = {
    ...given,
    note: given.note ?? given.message,
    reportingController: given.reportingController ?? given.reportingComponent,
  };
  const { namespace = 'default' } = (involvedObject ?? {}) as { readonly namespace?: string };
  if (namespace !== metadata.namespace) return 'involvedObject.namespace: does not match event.namespace';
  for (const [field, most] of [
    ['reportingController', 253],
    ['reportingInstance', 128],
    ['action', 128],
    ['reason', 128],
  ] as const) {
    const value = event[field];
    if (typeof value !== 'string' || value === '' || value.length > most)
      return `${field}: is required, and has at most ${String(most)} bytes`;
  }
  if (event.type !== 'Normal' && event.type !== 'Warning') return `type: Invalid value: "${String(event.type)}"`;
  if (typeof event.note === 'string' && Buffer.byteLength(event.note) > 1_024) return 'note: can have at most 1024 bytes';
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/.test(String(event.eventTime))) return 'eventTime: is no MicroTime';
  return undefined;
}
