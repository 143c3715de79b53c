import { isObject, type Json, type JsonObject } from './json.js';
import { VectorFormatError } from './vector.js';

/** The node of one step: what its summary reads as, before and after collections. */
export class Timeline {
  /** The first that was read in this step: statistics of pods are taken from it. */
  lastSummary: JsonObject = {};
  reads = 0;
  readonly collected: string[] = [];
  #now: Json;

  constructor(readonly described: JsonObject) {
    if (described.summary === undefined) throw new VectorFormatError('"summary" must be an object or null');
    this.#now = described.summary;
  }

  /** null: it cannot be read. */
  readSummary(): JsonObject | null {
    this.reads++;
    if (this.collected.length > 0 && this.described.summaryErrorAfterGC === true) return null;
    if (this.#now === null) return null;
    if (!isObject(this.#now)) throw new VectorFormatError('a summary must be an object or null');
    if (this.reads === 1) this.lastSummary = this.#now;
    return this.#now;
  }

  /** Runs the collections, and returns the errors of those that failed. */
  collect(collections: readonly string[]): string[] {
    const { summaryAfterContainerGC, summaryAfterImageGC, containerGCError, imageGCError } = this.described;
    const errors: string[] = [];
    for (const collection of collections) {
      this.collected.push(collection);
      const after = collection === 'containers' ? summaryAfterContainerGC : summaryAfterImageGC;
      if (after !== undefined) this.#now = after;
      const failed = collection === 'containers' ? containerGCError : imageGCError;
      if (failed !== undefined) errors.push(`${collection} could not be collected`);
    }
    return errors;
  }

  get nodeName(): string {
    const { node } = this.lastSummary;
    return isObject(node) && typeof node.nodeName === 'string' ? node.nodeName : 'node-1';
  }
}
