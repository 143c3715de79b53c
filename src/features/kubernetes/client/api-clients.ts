import { ApiClient, type ApiAnswer, type ApiRequest } from './api-client.js';
import { inClusterAccess } from './in-cluster.js';
import { kubeconfigAccess } from './kubeconfig.js';

/** One client for each credential, made at the first use. */
export class ApiClients {
  readonly #clients = new Map<string | undefined, ApiClient>();

  /** @param count  as of ApiClient */
  constructor(
    private readonly env: Readonly<Record<string, string | undefined>>,
    private readonly count?: ConstructorParameters<typeof ApiClient>[1],
  ) {}

  /** @param kubeconfig  undefined: the service account of a pod */
  of(kubeconfig: string | undefined): ApiClient {
    const known = this.#clients.get(kubeconfig);
    if (known !== undefined) return known;
    const client = new ApiClient(kubeconfig === undefined ? inClusterAccess(this.env) : kubeconfigAccess(kubeconfig), this.count);
    this.#clients.set(kubeconfig, client);
    return client;
  }

  ask(kubeconfig: string | undefined): (request: ApiRequest) => Promise<ApiAnswer> {
    const client = this.of(kubeconfig);
    return client.ask.bind(client);
  }

  close(): void {
    for (const client of this.#clients.values()) client.close();
  }
}
