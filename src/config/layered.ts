import type { Origin } from './config.js';
import { keyText, type KeyPath } from './key.js';
import type { Layer } from './layer.js';
import type { Settings } from './schema.js';
import { isRecord } from './values.js';

/** The layers in the order in which the later wins. */
export interface Layers {
  readonly defaults: Layer;
  readonly files: readonly Layer[];
  readonly flags: Layer;
  /** Some file could not be read at all. */
  readonly unread: boolean;
}

export type OriginMap = Map<string, { readonly value: unknown; readonly origin: Origin }>;

/** An item of a list that files add up, and where it stands. */
export interface ListItem<T> {
  readonly value: T;
  readonly layer: Layer;
  readonly path: KeyPath;
}

/** The settings of all layers as one: each value is that of the last layer that has it, and its origin is noted. */
export class LayeredSettings {
  constructor(
    private readonly layers: Layers,
    private readonly origins: OriginMap,
  ) {}

  /** Undefined where no layer has it, the defaults neither. */
  optional<T>(path: KeyPath, get: (settings: Settings) => T | undefined): T | undefined {
    const { defaults, files, flags } = this.layers;
    const layer = [defaults, ...files, flags].findLast(({ settings }) => get(settings) !== undefined);
    if (layer === undefined) this.origins.set(keyText(path), { value: null, origin: { kind: 'default' } });
    else this.origins.set(keyText(path), { value: valueAt(layer.written, path), origin: this.#originOf(layer, path) });
    return layer && get(layer.settings);
  }

  preset<T>(path: KeyPath, get: (settings: Settings) => T | undefined): T {
    const value = this.optional(path, get);
    if (value === undefined) throw new Error(`${keyText(path)} has no default (defaults.ts)`);
    return value;
  }

  /** A value whose default depends on others; `origin`: see {@link following}. */
  derived<T>(path: KeyPath, get: (settings: Settings) => T | undefined, otherwise: T, origin: Origin, written: unknown = otherwise): T {
    const set = this.setBy(get);
    if (set !== undefined) return this.preset(path, get);
    this.origins.set(keyText(path), { value: written, origin });
    return otherwise;
  }

  /** The origin of what is as `key`, which has been read, makes it. */
  following(key: string): Origin {
    const { value, origin } = this.origins.get(key) ?? { value: null, origin: { kind: 'default' } };
    return origin.kind === 'set' ? { kind: 'follows', key, value, position: origin.position } : origin;
  }

  /** The last layer, other than the defaults, that has it. */
  setBy(get: (settings: Settings) => unknown): Layer | undefined {
    return [...this.layers.files, this.layers.flags].findLast(({ settings }) => get(settings) !== undefined);
  }

  /** The lists of all files, one after the other; a flag replaces them. */
  list<T>(
    key: 'thresholds' | 'workloads' | 'rules' | 'reclaim',
    get: (settings: Settings) => readonly T[] | undefined,
    keep: (items: readonly ListItem<T>[]) => readonly ListItem<T>[],
  ): T[] {
    const from = get(this.layers.flags.settings) === undefined ? this.layers.files : [this.layers.flags];
    const items = keep(from.flatMap((layer) => (get(layer.settings) ?? []).map((value, index) => ({ value, layer, path: [key, index] }))));
    if (items.length === 0) this.origins.set(key, { value: [], origin: { kind: 'default' } });
    items.forEach(({ layer, path }, index) => {
      for (const [below, leaf] of leaves(valueAt(layer.written, path))) {
        this.origins.set(keyText([key, index, ...below]), { value: leaf, origin: this.#originOf(layer, [...path, ...below]) });
      }
    });
    return items.map(({ value }) => value);
  }

  #originOf(layer: Layer, path: KeyPath): Origin {
    return layer === this.layers.defaults ? { kind: 'default' } : { kind: 'set', position: layer.at(path) };
  }
}

function valueAt(value: unknown, path: KeyPath): unknown {
  return path.reduce<unknown>((inner, key) => {
    if (Array.isArray(inner)) return (inner as readonly unknown[])[Number(key)];
    return isRecord(inner) ? inner[key] : undefined;
  }, value);
}

/** Everything below that is neither a map nor a list, with its path. */
function leaves(value: unknown): [KeyPath, unknown][] {
  if (!isRecord(value)) return [[[], value]];
  return Object.entries(value).flatMap(([key, child]) => leaves(child).map(([path, leaf]): [KeyPath, unknown] => [[key, ...path], leaf]));
}
