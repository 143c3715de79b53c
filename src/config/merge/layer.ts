import type { Origin } from '../config.js';
import type { SourcePosition } from '../../errors.js';
import { isRecord, type ListItem, type Positions, type SettingsDocument, withoutNulls } from '../value/document.js';
import { reportIssue } from '../parse/zod-issue.js';
import { keyText, misplacedSignalHint, nearest, type KeyPath, type Report } from '../value/report.js';
import { evictdSchema, kubeletSchema, type Settings } from '../parse/schema.js';

/** The valid settings of one source: a file, the flags or the defaults. */
export interface Layer extends Positions {
  readonly settings: Settings;
  /** Values as written, for `config show`. */
  readonly written: Readonly<Record<string, unknown>>;
  /** Keys with invalid values; `settings` is without them. */
  readonly wrong: readonly string[];
}

/** Whether a document says that it is a kubelet's. */
export function isKubelets({ value }: Pick<SettingsDocument, 'value'>): boolean {
  return isRecord(value) && value.apiVersion === KUBELET.apiVersion && value.kind === KUBELET.kind;
}

/**
 * Whether a key belongs to a field of a KubeletConfiguration that evictd does not read. There a kubelet accepts a key that
 * stands twice (kubeletconfig/util/codec, DecodeKubeletConfiguration: lenient where strict decoding fails).
 */
export function isUnused(value: unknown, [key]: KeyPath): boolean {
  return isKubelets({ value }) && !['apiVersion', 'kind', ...Object.keys(kubeletSchema.shape)].includes(String(key));
}

const EVICTD = { apiVersion: 'evictd.dev/v1', kind: 'EvictdConfiguration' } as const;
const KUBELET = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' } as const;

/**
 * Checks a document. Invalid keys go to the report and are left out. Undefined: the document is not a configuration.
 */
export function readLayer(document: SettingsDocument, report: Report): Layer | undefined {
  const written = withoutNulls(document.value, KEPT_NULLS);
  if (!isRecord(written)) {
    report.issue('EVICTD_CONFIG_TYPE', 'expected a map of keys and values', document.at([]), 'write KEY: VALUE');
    return undefined;
  }
  const dialect = dialectOf(written, document, report);
  if (dialect === undefined) return undefined;
  if (dialect === 'kubelet') reportUnused(written, document, report);
  const schema = dialect === 'kubelet' ? kubeletSchema : evictdSchema;
  const first = schema.safeParse(written, { reportInput: true });
  for (const issue of first.error?.issues ?? []) reportIssue(issue, document, report);
  const wrong = (first.error?.issues ?? []).flatMap((issue) =>
    issue.path.length === 0 && issue.code === 'unrecognized_keys' ? issue.keys : [String(issue.path[0])],
  );
  const right = Object.fromEntries(Object.entries(written).filter(([key]) => !wrong.includes(key)));
  const settings = first.success ? first.data : schema.parse(right);
  const { at, keyAt, within } = document;
  return { settings, written, at, keyAt, ...(within && { within }), wrong };
}

/**
 * The dialect by apiVersion and kind; a file with neither, or with one of evictd's, is evictd's. If one is right and
 * the other is unknown, the right one decides. Undefined: unknown.
 */
function dialectOf(
  written: Readonly<Record<string, unknown>>,
  document: SettingsDocument,
  report: Report,
): 'evictd' | 'kubelet' | undefined {
  const { apiVersion, kind } = written;
  if ((apiVersion === undefined || apiVersion === EVICTD.apiVersion) && (kind === undefined || kind === EVICTD.kind)) return 'evictd';
  if (apiVersion === KUBELET.apiVersion && kind === KUBELET.kind) return 'kubelet';
  const isPart = (value: unknown, key: 'apiVersion' | 'kind'): boolean =>
    value === undefined || value === EVICTD[key] || value === KUBELET[key];
  const wrong = isPart(apiVersion, 'apiVersion') ? 'kind' : 'apiVersion';
  const seen = [apiVersion, kind].map((value) => (value === undefined ? 'none' : JSON.stringify(value))).join(', kind ');
  const other = wrong === 'kind' ? 'apiVersion' : 'kind';
  const word = written[wrong];
  const meant =
    typeof word === 'string' && !isPart(word, wrong) ? [EVICTD, KUBELET].find((known) => known[other] === written[other]) : undefined;
  const near = meant && nearest(String(word), [meant[wrong]]);
  report.issue(
    'EVICTD_CONFIG_KIND',
    `not a configuration of evictd: apiVersion ${seen}`,
    document.at([word === undefined ? other : wrong]),
    near === undefined
      ? [EVICTD, KUBELET].map((known) => `apiVersion: ${known.apiVersion} with kind: ${known.kind}`).join(', or ')
      : `did you mean ${near}?`,
  );
  return meant && (meant === EVICTD ? 'evictd' : 'kubelet');
}

function reportUnused(written: Readonly<Record<string, unknown>>, document: SettingsDocument, report: Report): void {
  const read = Object.keys(kubeletSchema.shape);
  const unused = Object.keys(written).filter((key) => isUnused(written, [key]));
  const hints = new Map(
    unused.flatMap((key) => {
      const hint = hintOfUnused(key, written[key], read);
      return hint === undefined ? [] : [[key, hint] as const];
    }),
  );
  for (const [key, hint] of hints) {
    report.notice('warn', 'EVICTD_CONFIG_KEYS_UNUSED', `not used by evictd: ${key}`, { hint, position: document.keyAt([key]) });
  }
  for (const path of unused.flatMap((key) => signalsIn(written[key], [key]))) {
    const message = `not used by evictd: ${keyText(path)}`;
    const hint = misplacedSignalHint(String(path.at(-1))) ?? '';
    report.notice('warn', 'EVICTD_CONFIG_KEYS_UNUSED', message, { hint, position: document.keyAt(path) });
  }
  const others = unused.filter((key) => !hints.has(key));
  if (others.length === 0) return;
  report.notice('info', 'EVICTD_CONFIG_KEYS_UNUSED', `not used by evictd: ${others.sort().join(', ')}`, {
    position: { file: document.at([]).file },
  });
}

/** Undefined: a key of the kubelet. Its `oomScoreAdj` is a number, evictd's is a word. */
function hintOfUnused(key: string, value: unknown, read: readonly string[]): string | undefined {
  if (Object.hasOwn(evictdSchema.shape, key) && !(key === 'oomScoreAdj' && typeof value === 'number')) {
    return 'move it to an EvictdConfiguration (a drop-in)';
  }
  const near = nearest(key, read, 4);
  return near === undefined ? misplacedSignalHint(key) : `did you mean ${near}?`;
}

/** Keys that are names of signals, in a map or list that evictd does not read: a threshold at the wrong place. */
function signalsIn(value: unknown, path: KeyPath): KeyPath[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => signalsIn(item, [...path, index]));
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const below = [...path, key];
    return misplacedSignalHint(key) === undefined ? signalsIn(inner, below) : [below];
  });
}

/** Maps whose keys are names: a name without a value lacks it. Without a label, `match` would match more workloads. */
const KEPT_NULLS = ['evictionHard', 'evictionSoft', 'evictionSoftGracePeriod', 'evictionMinimumReclaim', 'labels'];

/** The layers in ascending precedence: defaults, files in order, flags. */
export interface Layers {
  readonly defaults: Layer;
  readonly files: readonly Layer[];
  readonly flags: Layer;
  /** A file could not be read. */
  readonly unread: boolean;
}

export type OriginMap = Map<string, { readonly value: unknown; readonly origin: Origin }>;

type Key = keyof Settings;
/** A key in the map at `K`. */
type Below<K extends Key> = keyof NonNullable<Settings[K]> & string;
type Path<K extends Key, L extends Below<K>> = readonly [key: K] | readonly [key: K, below: L];
type Setting<K extends Key, L extends Below<K>> = [L] extends [never] ? NonNullable<Settings[K]> : NonNullable<NonNullable<Settings[K]>[L]>;

type ListKey = 'thresholds' | 'workloads' | 'priorityClasses' | 'rules' | 'taints' | 'disruptionBudgets' | 'reclaim' | 'policies';
type Entry<K extends ListKey> = NonNullable<Settings[K]>[number];

/** The merged settings: each value is that of the last layer that sets it. Reading a value records its origin. */
export class LayeredSettings {
  constructor(
    private readonly layers: Layers,
    private readonly origins: OriginMap,
  ) {}

  optional<K extends Key, L extends Below<K> = never>(...path: Path<K, L>): Setting<K, L> | undefined {
    const { defaults, files, flags } = this.layers;
    const layer = [defaults, ...files, flags].findLast(({ settings }) => valueAt(settings, path) !== undefined);
    if (layer === undefined) this.origins.set(keyText(path), { value: null, origin: { kind: 'default' } });
    else this.origins.set(keyText(path), { value: valueAt(layer.written, path), origin: this.#originOf(layer, path) });
    return layer && (valueAt(layer.settings, path) as Setting<K, L>);
  }

  /** A value that has a default. */
  preset<K extends Key, L extends Below<K> = never>(...path: Path<K, L>): Setting<K, L> {
    const value = this.optional(...path);
    if (value === undefined) throw new Error(`${keyText(path)} has no default (defaults.ts)`);
    return value;
  }

  /** A value whose default depends on other keys; `origin`: see {@link following}. */
  derived<K extends Key, L extends Below<K> = never>(
    path: Path<K, L>,
    otherwise: Setting<K, L>,
    origin: Origin,
    written: unknown = otherwise,
  ): Setting<K, L> {
    if (this.setBy(...path) !== undefined) return this.preset(...path);
    this.origins.set(keyText(path), { value: written, origin });
    return otherwise;
  }

  /** The origin of a value that is derived from `key`, which must have been read. */
  following(key: string): Origin {
    const { value, origin } = this.origins.get(key) ?? { value: null, origin: { kind: 'default' } };
    return origin.kind === 'set' ? { kind: 'follows', key, value, position: origin.position } : origin;
  }

  /** The last file or flag that sets it. */
  setBy(...path: KeyPath): Layer | undefined {
    return [...this.layers.files, this.layers.flags].findLast(({ settings }) => valueAt(settings, path) !== undefined);
  }

  /** Sets where the parts of a text begin. */
  divide(key: string, items: readonly SourcePosition[]): void {
    const { value, origin } = this.origins.get(key) ?? {};
    if (origin?.kind === 'set') this.origins.set(key, { value, origin: { ...origin, items } });
  }

  /**
   * The concatenated lists of the defaults and all files; a flag replaces those of the files.
   *
   * @param keep  the entries that are in force
   */
  list<K extends ListKey>(key: K, keep: (items: readonly ListItem<Entry<K>>[]) => readonly ListItem<Entry<K>>[]): Entry<K>[] {
    const { defaults, files, flags } = this.layers;
    const entries = ({ settings }: Layer): readonly Entry<K>[] => settings[key] ?? [];
    const from = [defaults, ...(flags.settings[key] === undefined ? files : [flags])];
    const layers = new Map<ListItem<Entry<K>>, Layer>(
      from.flatMap((layer) => entries(layer).map((value, index) => [{ value, layer, path: [key, index] }, layer] as const)),
    );
    const items = keep([...layers.keys()]);
    if (items.length === 0) this.origins.set(key, { value: [], origin: { kind: 'default' } });
    items.forEach((item, index) => {
      const layer = layers.get(item);
      if (layer === undefined) return;
      for (const [below, leaf] of leaves(valueAt(layer.written, item.path))) {
        const path = [...item.path, ...below];
        const origin = this.#originOf(layer, path);
        const items = Array.isArray(leaf) && origin.kind === 'set' ? { items: leaf.map((_, at) => layer.at([...path, at])) } : {};
        this.origins.set(keyText([key, index, ...below]), { value: leaf, origin: { ...origin, ...items } });
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

/** Every value below that is not a map. */
function leaves(value: unknown): [KeyPath, unknown][] {
  if (!isRecord(value)) return [[[], value]];
  return Object.entries(value).flatMap(([key, child]) => leaves(child).map(([path, leaf]): [KeyPath, unknown] => [[key, ...path], leaf]));
}
