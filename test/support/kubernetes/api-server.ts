import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { deletePod, evictPod, failure, type Answer, type DeleteOptions } from './answers.js';
import { makeCertificates } from './certificates.js';
import { ObjectStore, type ApiObject, type Change } from './objects.js';
import { mergePatched, strategicPatched } from './patches.js';
import { refusalOf } from './schemas.js';
import { apiVersionOf, discovery, RESOURCES, type Resource } from './resources.js';

/** A request that has arrived. */
export interface Received {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly contentType: string;
  readonly body: unknown;
  readonly user: string | undefined;
}

/** What a request is about: /api/v1/namespaces/NAMESPACE/pods/NAME/SUBRESOURCE. */
interface Target {
  readonly resource: Resource;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
}

type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete';

/** Whether a user may do it. The second user is the kubelet of the node. */
export type Authorise = (user: string, verb: Verb, target: Pick<Target, 'resource' | 'subresource' | 'name' | 'namespace'>) => boolean;

export const NODE = 'node-1';
const KUBELET = `system:node:${NODE}`;
const TOKENS: Readonly<Record<string, string>> = { 'admin-token': 'admin', 'kubelet-token': KUBELET, 'agent-token': 'evictd' };
const BOOKMARK_MS = 1_000;

/**
 * An API server as far as evictd uses one: pods, nodes, budgets, events, leases and access reviews over TLS, with the
 * answers that a real kube-apiserver v1.36.2 gave. It can also hang, be slow, go away, and come back.
 */
export class FakeApiServer {
  readonly store = new ObjectStore();
  readonly received: Received[] = [];
  readonly certificates = makeCertificates(KUBELET, 'system:nodes');
  /** 'hang': no request is answered. A number: each is answered so many ms later. */
  answers: 'now' | 'hang' | number = 'now';
  /** Watches get neither changes nor bookmarks, and do not end. */
  watchesAreStale = false;
  /** Tokens that are accepted, with their users. */
  tokens = TOKENS;
  authorise: Authorise = authorise;
  /** Requests are first given to it. undefined: as ever. */
  instead: (received: Received) => Answer | undefined = () => undefined;
  #server: Server | undefined;
  readonly #sockets = new Set<Duplex>();
  readonly #watches = new Set<ServerResponse>();
  #port = 0;

  static async start(): Promise<FakeApiServer> {
    const server = new FakeApiServer();
    await server.back();
    server.store.put('nodes', {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: NODE },
      spec: {},
      status: { conditions: [], phase: 'Running' },
    });
    return server;
  }

  get url(): string {
    return `https://127.0.0.1:${String(this.#port)}`;
  }

  /** Listens, on the port of before. */
  async back(): Promise<void> {
    const { ca, server } = this.certificates;
    this.#server = createServer(
      { ...server, ca, requestCert: true, rejectUnauthorized: false },
      (request, response) => void this.#serve(request, response),
    );
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    });
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  /** Refuses connections, and breaks those that exist. */
  async away(): Promise<void> {
    const closed = this.#server?.listening ? once(this.#server, 'close') : undefined;
    this.#server?.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  /** Ends all watches, as at their time. */
  endWatches(): void {
    for (const response of this.#watches) response.end();
  }

  get watches(): number {
    return this.#watches.size;
  }

  /** Writes a kubeconfig. @param user  its credential; default: an administrator's token */
  kubeconfig(file: string, user: object = { token: 'admin-token' }, cluster: object = {}): string {
    const authority = { 'certificate-authority-data': Buffer.from(this.certificates.ca).toString('base64') };
    const config = {
      ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'c' },
      clusters: [{ name: 'k', cluster: { server: this.url, ...authority, ...cluster } }],
      users: [{ name: 'u', user }],
      contexts: [{ name: 'c', context: { cluster: 'k', user: 'u' } }],
    };
    writeFileSync(file, JSON.stringify(config), { mode: 0o600 });
    return file;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = await contentOf(request).catch(() => undefined);
    if (text === undefined || this.answers === 'hang') return;
    if (this.answers !== 'now') await new Promise((resolve) => setTimeout(resolve, this.answers as number));
    const url = new URL(request.url ?? '/', this.url);
    const received: Received = {
      ...{ method: request.method ?? '', path: url.pathname, query: url.searchParams, user: this.#userOf(request) },
      ...{ contentType: request.headers['content-type'] ?? '', body: parsed(text) },
    };
    this.received.push(received);
    const target = targetOf(url.pathname);
    if (this.instead(received) === undefined && received.query.get('watch') === 'true' && target !== undefined) {
      const refusal = this.#refusal(received, 'watch', target);
      if (refusal === undefined) this.#watch(received, target, response);
      else send(response, refusal);
      return;
    }
    send(response, this.instead(received) ?? this.#answer(received, target, request));
  }

  #userOf(request: IncomingMessage): string | undefined {
    const token = request.headers.authorization?.replace(/^Bearer /, '');
    if (token !== undefined) return this.tokens[token];
    const socket = request.socket as Partial<TLSSocket>;
    const CN = socket.authorized === true ? socket.getPeerCertificate?.().subject.CN : undefined;
    return typeof CN === 'string' ? CN : undefined;
  }

  #refusal({ user }: Received, verb: Verb, target: Target): Answer | undefined {
    if (user === undefined) return failure(401, 'Unauthorized');
    if (this.authorise(user, verb, target)) return undefined;
    const { resource, subresource, namespace } = target;
    const what = `${resource.name}${subresource === undefined ? '' : `/${subresource}`}`;
    const where = namespace === undefined ? 'at the cluster scope' : `in the namespace "${namespace}"`;
    return failure(403, `${what} is forbidden: User "${user}" cannot ${verb} resource "${what}" in API group "${resource.group}" ${where}`);
  }

  #answer(received: Received, target: Target | undefined, request: IncomingMessage): Answer {
    const { method, path, body } = received;
    const hasNoLength = request.headers['content-length'] === undefined && request.headers['transfer-encoding'] === undefined;
    if (method === 'DELETE' && received.contentType !== '' && hasNoLength) return { code: 400, body: '400 Bad Request' };
    if (path === '/readyz') return { code: 200, body: 'ok' };
    const found = discovery(path);
    if (found !== undefined) return { code: 200, body: found };
    if (target === undefined) return failure(404, 'the server could not find the requested resource');
    const verb =
      ({ POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' } as const)[method] ??
      (target.name === undefined ? 'list' : 'get');
    const refusal = this.#refusal(received, verb, target);
    if (refusal !== undefined) return refusal;
    if (typeof body === 'string') return failure(415, `the body of the request was in an unknown format - ${received.contentType}`);
    if (verb === 'list') return { code: 200, body: this.#list(received, target) };
    if (verb === 'create' && target.subresource === undefined) return this.#create(target, body as ApiObject, received.user ?? '');
    const { resource, namespace, name = '', subresource } = target;
    const object = this.store.get(resource.name, namespace, name);
    if (object === undefined) return failure(404, `${resource.name} "${name}" not found`, { name, kind: resource.name });
    if (verb === 'get') return { code: 200, body: object };
    if (subresource === 'eviction') {
      const { deleteOptions = {} } = body as { deleteOptions?: DeleteOptions };
      return refusalOf('Eviction', body as ApiObject) ?? evictPod(this.store, object, deleteOptions);
    }
    if (verb === 'delete') {
      if (resource.name === 'pods') return deletePod(this.store, object, body ?? {});
      this.store.remove(resource.name, object);
      return { code: 200, body: object };
    }
    return this.#change(received, target, object);
  }

  #list({ query }: Received, { resource, namespace }: Target): object {
    const all = this.store.list(resource.name, namespace).filter((object) => isSelected(object, query));
    const [from, limit] = [Number(query.get('continue') ?? 0), Number(query.get('limit') ?? all.length)];
    const items = all.slice(from, from + limit);
    const more = from + limit < all.length && { continue: String(from + limit) };
    const metadata = { resourceVersion: String(this.store.version), ...more };
    return { kind: `${resource.kind}List`, apiVersion: apiVersionOf(resource), metadata, items };
  }

  #create(target: Target, object: ApiObject, user: string): Answer {
    const { resource, namespace } = target;
    if (resource.kind === 'SelfSubjectAccessReview') {
      const asked = (object.spec?.resourceAttributes ?? {}) as {
        verb: Verb;
        resource: string;
        subresource?: string;
        name?: string;
        namespace?: string;
      };
      const known = RESOURCES.find(({ name }) => name === asked.resource);
      const allowed =
        known !== undefined &&
        this.authorise(user, asked.verb, { namespace: undefined, subresource: undefined, name: undefined, ...asked, resource: known });
      return { code: 201, body: { ...object, status: { allowed } } };
    }
    const { name } = object.metadata;
    const given = {
      apiVersion: apiVersionOf(resource),
      kind: resource.kind,
      ...object,
      metadata: { ...object.metadata, ...(namespace !== undefined && { namespace }) },
    };
    const refusal = refusalOf(resource.kind, given);
    if (refusal !== undefined) return refusal;
    if (this.store.get(resource.name, namespace, name) !== undefined)
      return failure(409, `${resource.name} "${name}" already exists`, undefined, 'AlreadyExists');
    return { code: 201, body: this.store.put(resource.name, given) };
  }

  #change({ method, contentType, body, user }: Received, { resource, subresource }: Target, object: ApiObject): Answer {
    const given = body as Partial<ApiObject>;
    const { name } = object.metadata;
    const version = given.metadata?.resourceVersion;
    if (version !== undefined && version !== '' && version !== object.metadata.resourceVersion) {
      const why = 'the object has been modified; please apply your changes to the latest version and try again';
      return failure(409, `Operation cannot be fulfilled on ${resource.name} "${name}": ${why}`, { name, kind: resource.name });
    }
    const patched = method === 'PUT' ? given : patchedBy(contentType, object, given);
    if (patched === undefined) return failure(415, `the body of the request was in an unknown format - ${contentType}`);
    const changed = patched as ApiObject;
    if (changed.metadata.uid !== object.metadata.uid) {
      return failure(
        422,
        `${resource.kind} "${name}" is invalid: metadata.uid: Invalid value: "${String(changed.metadata.uid)}": field is immutable`,
      );
    }
    // A subresource changes its part alone.
    const { status, ...rest } = changed;
    const { status: before } = object;
    const next = subresource === 'status' ? { ...object, ...(status && { status }) } : { ...rest, ...(before && { status: before }) };
    const taints = (each: ApiObject): string => JSON.stringify(each.spec?.taints ?? []);
    if (user === KUBELET && resource.name === 'nodes' && taints(next) !== taints(object)) {
      return failure(403, `nodes "${name}" is forbidden: node "${NODE}" is not allowed to modify taints`);
    }
    const refusal = refusalOf(resource.kind, { apiVersion: apiVersionOf(resource), kind: resource.kind, ...(next as ApiObject) });
    return refusal ?? { code: 200, body: this.store.put(resource.name, next) };
  }

  /** From a version that is not known any more: an event of type ERROR, not an answer 410 (cacher.go: newErrWatcher). */
  #watch({ query }: Received, { resource, namespace }: Target, response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'application/json' });
    const write = (type: string, object: unknown): void => {
      if (!this.watchesAreStale && this.answers !== 'hang') response.write(`${JSON.stringify({ type, object })}\n`);
    };
    const version = query.get('resourceVersion') ?? '0';
    const missed = this.store.since(version === '0' ? this.store.version : Number(version));
    if (missed === undefined) {
      write('ERROR', failure(410, `too old resource version: ${version} (${String(this.store.version)})`).body);
      response.end();
      return;
    }
    const onChange = (change: Change): void => {
      if (change.resource !== resource.name || (namespace !== undefined && change.object.metadata.namespace !== namespace)) return;
      const [was, is] = [
        change.before !== undefined && isSelected(change.before, query),
        change.type !== 'DELETED' && isSelected(change.object, query),
      ];
      if (is) write(was ? 'MODIFIED' : 'ADDED', change.object);
      else if (was) write('DELETED', change.object);
    };
    response.flushHeaders();
    for (const change of missed) onChange(change);
    const unwatch = this.store.watch(onChange);
    const bookmark = (): void => {
      write('BOOKMARK', {
        kind: resource.kind,
        apiVersion: apiVersionOf(resource),
        metadata: { resourceVersion: String(this.store.version), creationTimestamp: null },
      });
    };
    const bookmarks = query.get('allowWatchBookmarks') === 'true' ? setInterval(bookmark, BOOKMARK_MS) : undefined;
    const ends = setTimeout(
      () => {
        if (this.watchesAreStale) return;
        bookmark();
        response.end();
      },
      Number(query.get('timeoutSeconds') ?? '1800') * 1_000,
    );
    this.#watches.add(response);
    response.on('close', () => {
      unwatch();
      clearInterval(bookmarks);
      clearTimeout(ends);
      this.#watches.delete(response);
    });
  }
}

/** Administrators may do all. A kubelet: its pods and its node, as NodeRestriction and the node authorizer allow; no budgets. */
export function authorise(user: string, verb: Verb, { resource, subresource, name }: Parameters<Authorise>[2]): boolean {
  if (user !== KUBELET) return true;
  if (resource.name === 'pods') return verb === 'create' ? subresource === 'eviction' : true;
  if (resource.name === 'nodes') return verb === 'get' || verb === 'list' || verb === 'watch' || name === undefined || name === NODE;
  return ['events', 'leases', 'selfsubjectaccessreviews'].includes(resource.name);
}

function patchedBy(contentType: string, object: ApiObject, patch: unknown): unknown {
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

function isSelected(object: ApiObject, query: URLSearchParams): boolean {
  const wanted = (key: string): string[][] =>
    (query.get(key) ?? '')
      .split(',')
      .filter(Boolean)
      .map((part) => part.split(/==?/));
  const valueAt = (path: string): unknown =>
    path.split('.').reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], object);
  const labels = (object.metadata.labels ?? {}) as Record<string, string>;
  return (
    wanted('fieldSelector').every(([path = '', value]) => (valueAt(path) ?? '') === value) &&
    wanted('labelSelector').every(([key = '', value]) => (value === undefined ? key in labels : labels[key] === value))
  );
}

function targetOf(path: string): Target | undefined {
  const [, group = '', namespace, first, name, subresource] =
    /^\/(?:api|apis\/([^/]+))\/v1(?:\/namespaces\/([^/]+)(?=\/))?\/([^/]+)(?:\/([^/]+))?(?:\/([^/]+))?$/.exec(path) ?? [];
  const resource = RESOURCES.find((each) => each.name === first && each.group === group);
  return resource && { resource, namespace, name, subresource };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text === '' ? undefined : text;
  }
}

async function contentOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const part of request.setEncoding('utf8') as AsyncIterable<string>) text += part;
  return text;
}

function send(response: ServerResponse, { code, body, headers }: Answer): void {
  const isText = typeof body === 'string';
  response.writeHead(code, { 'content-type': isText ? 'text/plain' : 'application/json', ...headers });
  response.end(isText ? body : JSON.stringify(body));
}
