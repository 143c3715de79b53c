import type { NodePod } from '../../core/kubernetes/node-pod.js';
import { DocumentError } from '../../errors.js';
import { formatJson, parseJson, type Json } from '../../kubernetes/json.js';
import { documentOf, member } from '../../kubernetes/document.js';
import { nodePodOf, shortPod, uidOf } from '../../kubernetes/node-pod-document.js';

interface StoredPod {
  /** What evictd reads of it: most changes of a pod change nothing here. */
  readonly text: string;
  /** undefined: it cannot be read. */
  readonly pod: NodePod | undefined;
}

/** The pods of a node by uid. */
export class PodStore {
  #byUid = new Map<string, StoredPod>();
  #pods: readonly NodePod[] | undefined = [];
  #unreadable = new Map<string, string>();

  /** The pods in the order in which they became known. The same array while nothing has changed. */
  get pods(): readonly NodePod[] {
    return (this.#pods ??= [...this.#byUid.values()].flatMap(({ pod }) => pod ?? []));
  }

  /** Why pods cannot be read. */
  get problems(): readonly string[] {
    return [...this.#unreadable.values()];
  }

  /** What {@link restore} takes. */
  get texts(): readonly string[] {
    return [...this.#byUid.values()].map(({ text }) => text);
  }

  /** Throws SyntaxError for what `texts` does not give. */
  restore(texts: readonly string[]): void {
    this.replace(texts.map(parseJson));
  }

  /** Returns whether anything has changed. */
  replace(pods: readonly Json[]): boolean {
    const before = this.#byUid;
    this.#byUid = new Map();
    this.#unreadable = new Map();
    let changed = false;
    for (const pod of pods) changed = this.#put(pod, before) || changed;
    changed ||= before.size !== this.#byUid.size;
    if (changed) this.#pods = undefined;
    return changed;
  }

  /** Returns whether anything has changed. */
  put(pod: Json): boolean {
    const changed = this.#put(pod, this.#byUid);
    if (changed) this.#pods = undefined;
    return changed;
  }

  remove(pod: Json): boolean {
    const uid = uidOf(pod);
    this.#unreadable.delete(uid);
    const changed = this.#byUid.delete(uid);
    if (changed) this.#pods = undefined;
    return changed;
  }

  #put(pod: Json, before: ReadonlyMap<string, StoredPod>): boolean {
    const uid = uidOf(pod);
    const short = shortPod(pod);
    const text = formatJson(short);
    const known = before.get(uid);
    const isSame = known?.text === text && known.pod !== undefined;
    this.#byUid.set(uid, isSame ? known : { text, pod: this.#read(uid, short) });
    return !isSame;
  }

  #read(uid: string, pod: Json): NodePod | undefined {
    this.#unreadable.delete(uid);
    try {
      return nodePodOf(pod);
    } catch (error) {
      if (!(error instanceof DocumentError)) throw error;
      const metadata = member(documentOf(pod), 'metadata');
      this.#unreadable.set(uid, `pod ${String(member(metadata, 'name').value)}: ${error.message}`);
      return undefined;
    }
  }
}
