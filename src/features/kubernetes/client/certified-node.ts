import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parse } from 'yaml';
import { attempt } from '../../../errors.js';

interface Kubeconfig {
  readonly 'current-context': string;
  readonly contexts: readonly { readonly name: string; readonly context: { readonly user: string } }[];
  readonly users: readonly {
    readonly name: string;
    readonly user: { readonly 'client-certificate-data'?: string; readonly 'client-certificate'?: string };
  }[];
}

/**
 * The name of the node in the client certificate of a kubelet (CN=system:node:NAME; pkg/auth/nodeidentifier). The host may have another
 * name: on AWS the node has its private DNS name. undefined: the kubeconfig has no such certificate, or cannot be read now.
 */
export function certifiedNode(kubeconfig: string): string | undefined {
  return attempt(() => {
    const config = parse(readFileSync(kubeconfig, 'utf8'), { logLevel: 'error' }) as Kubeconfig;
    const context = config.contexts.find(({ name }) => name === config['current-context'])?.context;
    const { user = {} } = config.users.find(({ name }) => name === context?.user) ?? {};
    const data = user['client-certificate-data'];
    const certificate =
      data === undefined ? readFileSync(resolve(dirname(kubeconfig), user['client-certificate'] ?? '')) : Buffer.from(data, 'base64');
    return /^CN=system:node:(\S+)$/m.exec(new X509Certificate(certificate).subject)?.[1];
  });
}
