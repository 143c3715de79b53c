/** An object of the API, as JSON. */
export interface ApiObject {
  apiVersion?: string;
  kind?: string;
  metadata: { name: string; namespace?: string; uid?: string; resourceVersion?: string; generation?: number; [key: string]: unknown };
  spec?: Record<string, unknown>;
  status?: Record<string, unknown>;
  [key: string]: unknown;
}

export interface Change {
  readonly version: number;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly resource: string;
  readonly object: ApiObject;
  /** undefined: it was added. */
  readonly before: ApiObject | undefined;
}

/** The objects of a cluster with their versions and the changes that led to them, as etcd and the watch cache have them. */
export class ObjectStore {
  #version = 100;
  readonly #objects = new Map<string, ApiObject>();
  #history: Change[] = [];
  #oldest = 0;
  readonly #watchers = new Set<(change: Change) => void>();

  get version(): number {
    return this.#version;
  }

  get(resource: string, namespace: string | undefined, name: string): ApiObject | undefined {
    return this.#objects.get(keyOf(resource, namespace, name));
  }

  list(resource: string, namespace?: string): ApiObject[] {
    return [...this.#objects]
      .filter(([key]) => key.startsWith(`${resource}/${namespace === undefined ? '' : `${namespace}/`}`))
      .map(([, object]) => object);
  }

  /** Adds the object, or replaces it. */
  put(resource: string, given: ApiObject): ApiObject {
    const { namespace, name } = given.metadata;
    const before = this.get(resource, namespace, name);
    const uid = given.metadata.uid ?? before?.metadata.uid ?? crypto.randomUUID();
    const creationTimestamp =
      given.metadata.creationTimestamp ?? before?.metadata.creationTimestamp ?? new Date().toISOString().replace(/\.\d+/, '');
    const object = { ...given, metadata: { ...given.metadata, uid, creationTimestamp, resourceVersion: String(++this.#version) } };
    this.#objects.set(keyOf(resource, namespace, name), object);
    this.#changed({ type: before === undefined ? 'ADDED' : 'MODIFIED', resource, object, before, version: this.#version });
    return object;
  }

  /** With its last status. */
  remove(resource: string, { metadata: { namespace, name }, status }: ApiObject): void {
    const before = this.get(resource, namespace, name);
    if (before === undefined) return;
    this.#objects.delete(keyOf(resource, namespace, name));
    const object = { ...before, ...(status && { status }), metadata: { ...before.metadata, resourceVersion: String(++this.#version) } };
    this.#changed({ type: 'DELETED', resource, object, before, version: this.#version });
  }

  /** Changes after a version; undefined: they are not known any more. */
  since(version: number): readonly Change[] | undefined {
    return version < this.#oldest ? undefined : this.#history.filter((change) => change.version > version);
  }

  /** Forgets how the objects became what they are: watches from earlier versions are refused. */
  compact(): void {
    this.#history = [];
    this.#oldest = ++this.#version;
  }

  watch(onChange: (change: Change) => void): () => void {
    this.#watchers.add(onChange);
    return () => this.#watchers.delete(onChange);
  }

  #changed(change: Change): void {
    this.#history.push(change);
    for (const watcher of this.#watchers) watcher(change);
  }
}

function keyOf(resource: string, namespace: string | undefined, name: string): string {
  return `${resource}/${namespace ?? ''}/${name}`;
}
