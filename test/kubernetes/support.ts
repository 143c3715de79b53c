/** A pod of the API with one container that asks for nothing; `parts` replace what they name. */
export function podDocument(
  parts: {
    readonly metadata?: Readonly<Record<string, unknown>>;
    readonly spec?: Readonly<Record<string, unknown>>;
    readonly status?: Readonly<Record<string, unknown>>;
  } = {},
): Readonly<Record<string, unknown>> {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web', namespace: 'shop', uid: 'uid-web', ...parts.metadata },
    spec: { containers: [{ name: 'app' }], ...parts.spec },
    ...(parts.status === undefined ? {} : { status: parts.status }),
  };
}

/** A container; the lists as Kubernetes writes them. */
export function container(
  name: string,
  requests: Readonly<Record<string, unknown>> = {},
  limits: Readonly<Record<string, unknown>> = {},
): Readonly<Record<string, unknown>> {
  return { name, resources: { requests, limits } };
}

export function sidecar(name: string, requests: Readonly<Record<string, unknown>> = {}): Readonly<Record<string, unknown>> {
  return { ...container(name, requests), restartPolicy: 'Always' };
}
