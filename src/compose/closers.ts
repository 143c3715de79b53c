/** Owns what has to be closed at the end, also when a start fails half-way: the last opened is closed first. */
export class Closers {
  #resources: { close(): void }[] = [];

  add<T extends { close(): void }>(resource: T): T {
    this.#resources.push(resource);
    return resource;
  }

  /** Adds a resource that is closed after all others. */
  addLast<T extends { close(): void }>(resource: T): T {
    this.#resources.unshift(resource);
    return resource;
  }

  /** Closes all, even if one throws; throws the first error then. May be called twice. */
  close(): void {
    const errors: unknown[] = [];
    for (let next = this.#resources.pop(); next !== undefined; next = this.#resources.pop()) {
      try {
        next.close();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
  }
}
