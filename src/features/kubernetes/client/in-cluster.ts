import { readFile } from 'node:fs/promises';
import { isIPv6 } from 'node:net';
import { ACCESS_TTL_MS, unusable, type ReadAccess } from './access.js';

const DIRECTORY = '/var/run/secrets/kubernetes.io/serviceaccount';
const HINT = 'evictd must run in a pod with automountServiceAccountToken: true; elsewhere set kubernetes.kubeconfig';

/** The service account of the pod that evictd runs in (client-go: rest.InClusterConfig). The token is replaced in its file. */
export function inClusterAccess(env: Readonly<Record<string, string | undefined>>, directory = DIRECTORY): ReadAccess {
  return async () => {
    const { KUBERNETES_SERVICE_HOST: host = '', KUBERNETES_SERVICE_PORT: port = '' } = env;
    const url = `https://${isIPv6(host) ? `[${host}]` : host}:${port}`;
    if (host === '' || port === '' || !URL.canParse(url)) {
      throw unusable('KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set', HINT);
    }
    try {
      const [token, ca] = await Promise.all([readFile(`${directory}/token`, 'utf8'), readFile(`${directory}/ca.crt`, 'utf8')]);
      return { server: new URL(url), tls: { ca }, authorization: `Bearer ${token.trim()}`, untilMs: Date.now() + ACCESS_TTL_MS };
    } catch (cause) {
      throw unusable(`the service account cannot be read: ${String(cause)}`, HINT, cause);
    }
  };
}

/** The namespace of the pod that evictd runs in. undefined: it runs in none, or has no service account. */
export async function ownNamespace(directory = DIRECTORY): Promise<string | undefined> {
  return readFile(`${directory}/namespace`, 'utf8').then(
    (text) => text.trim() || undefined,
    () => undefined,
  );
}
