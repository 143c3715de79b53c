import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { parse } from 'yaml';
import { deletePod, failure, type Answer, type DeleteOptions } from './answers.js';
import { applyProblem, forbidden, isApply, namespaceProblem, patchedBy } from './admission.js';
import { makeCertificates } from './certificates.js';
import { evictPod } from './disruption-budgets.js';
import { authorise, KUBELET, NODE, restriction, type Authorise, type Target, type Verb } from './node-authorizer.js';
import { ObjectStore, type ApiObject, type Change } from './objects.js';
import { refusalOf, refusalOfDeleteOptions } from './schemas.js';
import { fieldLabelProblem, isSelected } from './selectors.js';
import { apiVersionOf, discovery, RESOURCES } from './resources.js';

/** A request that has arrived. */
export interface Received {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly contentType: string;
  readonly body: unknown;
  readonly user: string | undefined;
}

export { authorise, NODE, type Authorise };

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
  /** Each request is first given to it, once. undefined: as ever. */
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

  /** Cuts the connections of all watches, as a proxy does. */
  cutWatches(): void {
    for (const response of this.#watches) response.destroy();
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
      ...{ contentType: request.headers['content-type'] ?? '', body: parsed(text, request.headers['content-type']) },
    };
    this.received.push(received);
    const target = targetOf(url.pathname);
    const instead = this.instead(received);
    if (instead === undefined && received.query.get('watch') === 'true' && target !== undefined) {
      const refusal = this.#refusal(received, 'watch', target);
      if (refusal === undefined) this.#watch(received, target, response);
      else send(response, refusal);
      return;
    }
    send(response, instead ?? this.#answer(received, target, request));
  }

  #userOf(request: IncomingMessage): string | undefined {
    const token = request.headers.authorization?.replace(/^Bearer /, '');
    if (token !== undefined) return this.tokens[token];
    const socket = request.socket as Partial<TLSSocket>;
    const CN = socket.authorized === true ? socket.getPeerCertificate?.().subject.CN : undefined;
    return typeof CN === 'string' ? CN : undefined;
  }

  #refusal({ user, query }: Received, verb: Verb, target: Target): Answer | undefined {
    if (user === undefined) return failure(401, 'Unauthorized');
    if (this.authorise(user, verb, { ...target, fieldSelector: query.get('fieldSelector') }, this.store))
      return fieldLabelProblem(query, target);
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
    if (subresource === 'eviction') return this.#evict(received, target, object);
    if (verb === 'delete') return this.#delete(received, target, object);
    return this.#change(received, target, object);
  }

  #evict({ body, user = '' }: Received, target: Target, pod: ApiObject): Answer {
    const { metadata, deleteOptions = {} } = body as ApiObject & { readonly deleteOptions?: DeleteOptions };
    const refusal = refusalOf('Eviction', body as ApiObject) ?? refusalOfDeleteOptions(deleteOptions) ?? namespaceProblem(target, metadata);
    if (refusal !== undefined) return refusal;
    if (metadata.name !== target.name) return failure(400, 'name in URL does not match name in Eviction object');
    return forbidden(target, restriction(user, target, pod)) ?? evictPod(this.store, pod, deleteOptions);
  }

  #delete({ body = {}, user = '' }: Received, target: Target, object: ApiObject): Answer {
    const refusal = refusalOfDeleteOptions(body as object) ?? forbidden(target, restriction(user, target, object));
    if (refusal !== undefined) return refusal;
    if (target.resource.name === 'pods') return deletePod(this.store, object, body as DeleteOptions);
    this.store.remove(target.resource.name, object);
    return { code: 200, body: object };
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
        group?: string;
        resource: string;
        subresource?: string;
        name?: string;
        namespace?: string;
        fieldSelector?: { readonly requirements: readonly { readonly key: string; readonly values: readonly string[] }[] };
      };
      const known = RESOURCES.find(({ name, group }) => name === asked.resource && group === (asked.group ?? ''));
      // A requirement with one value is compared for equality (registry/authorization/util).
      const fieldSelector = asked.fieldSelector?.requirements.map(({ key, values }) => `${key}=${values.join()}`).join() ?? null;
      const about = { namespace: undefined, subresource: undefined, name: undefined, ...asked, fieldSelector };
      const allowed = known !== undefined && this.authorise(user, asked.verb, { ...about, resource: known }, this.store);
      return { code: 201, body: { ...object, status: { allowed } } };
    }
    const problem = namespaceProblem(target, object.metadata);
    if (problem !== undefined) return problem;
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

  #change({ method, contentType, body, query, user = '' }: Received, target: Target, object: ApiObject): Answer {
    const { resource, subresource } = target;
    const given = body as Partial<ApiObject>;
    const refused = isApply(contentType) ? applyProblem(query, given, object) : undefined;
    if (refused !== undefined) return refused;
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
    const denied = forbidden(target, restriction(user, target, object, next));
    if (denied !== undefined) return denied;
    const refusal = refusalOf(resource.kind, { apiVersion: apiVersionOf(resource), kind: resource.kind, ...(next as ApiObject) });
    return refusal ?? { code: 200, body: this.store.put(resource.name, next) };
  }

  /** From a version that is not known any more: an event of type ERROR, not an answer 410 (cacher.go: newErrWatcher). */
  #watch({ query }: Received, { resource, namespace }: Target, response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'application/json' });
    const write = (type: string, object: unknown): void => {
      if (!this.watchesAreStale && this.answers !== 'hang' && !response.writableEnded)
        response.write(`${JSON.stringify({ type, object })}\n`);
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

function targetOf(path: string): Target | undefined {
  const [, group = '', namespace, first, name, subresource] =
    /^\/(?:api|apis\/([^/]+))\/v1(?:\/namespaces\/([^/]+)(?=\/))?\/([^/]+)(?:\/([^/]+))?(?:\/([^/]+))?$/.exec(path) ?? [];
  const resource = RESOURCES.find((each) => each.name === first && each.group === group);
  return resource && { resource, namespace, name, subresource };
}

function parsed(text: string, contentType = ''): unknown {
  try {
    return (isApply(contentType) ? parse(text) : JSON.parse(text)) as unknown;
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
