import type { SourcePosition } from '../errors.js';
import type { SettingsDocument } from './document.js';
import { reportIssue } from './issue.js';
import { nearest, type KeyPath } from './key.js';
import type { Report } from './report.js';
import { evictdSchema, kubeletSchema, type Settings } from './schema.js';
import { isRecord } from './values.js';

/** The settings of one source, checked on their own. */
export interface Layer {
  readonly settings: Settings;
  /** The values as written, for `config show`. */
  readonly written: Readonly<Record<string, unknown>>;
  readonly at: (path: KeyPath) => SourcePosition;
  readonly keyAt: (path: KeyPath) => SourcePosition;
  /** Keys whose values are wrong: they are not among the settings. */
  readonly wrong: readonly string[];
}

const EVICTD = { apiVersion: 'evictd.dev/v1', kind: 'EvictdConfiguration' } as const;
const KUBELET = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' } as const;

/**
 * What is wrong is in the report, and the rest is read as if the wrong keys were not there, so that all of it is told at once. Undefined:
 * the document as a whole is something else.
 */
export function readLayer(document: SettingsDocument, report: Report): Layer | undefined {
  const written = withoutNulls(document.value);
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
  return { settings, written, at: document.at, keyAt: document.keyAt, wrong };
}

/**
 * apiVersion and kind name the dialect; a file with neither, or with only one of evictd's, is evictd's. Where one of the two is right and the other
 * is a word that nobody knows, the right one counts. Undefined: it could be anything.
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
    `not a configuration that evictd reads: apiVersion ${seen}`,
    document.at([word === undefined ? other : wrong]),
    near === undefined
      ? [EVICTD, KUBELET].map((known) => `apiVersion: ${known.apiVersion} with kind: ${known.kind}`).join(', or ')
      : `did you mean ${near}?`,
  );
  return meant && (meant === EVICTD ? 'evictd' : 'kubelet');
}

function reportUnused(written: Readonly<Record<string, unknown>>, document: SettingsDocument, report: Report): void {
  const read = Object.keys(kubeletSchema.shape);
  const unused = Object.keys(written).filter((key) => !['apiVersion', 'kind', ...read].includes(key));
  const hints = new Map(
    unused.flatMap((key) => {
      const hint = hintOfUnused(key, written[key], read);
      return hint === undefined ? [] : [[key, hint] as const];
    }),
  );
  for (const [key, hint] of hints) {
    report.notice('warn', 'EVICTD_CONFIG_KEYS_UNUSED', `not used by evictd: ${key}`, { hint, position: document.keyAt([key]) });
  }
  const others = unused.filter((key) => !hints.has(key));
  if (others.length === 0) return;
  report.notice('info', 'EVICTD_CONFIG_KEYS_UNUSED', `not used by evictd: ${others.sort().join(', ')}`, {
    position: { file: document.at([]).file },
  });
}

/** What was probably meant; undefined: it is the kubelet's. Its `oomScoreAdj` is a number, evictd's a word. */
function hintOfUnused(key: string, value: unknown, read: readonly string[]): string | undefined {
  if (Object.hasOwn(evictdSchema.shape, key) && !(key === 'oomScoreAdj' && typeof value === 'number')) {
    return 'it belongs into an EvictdConfiguration (a drop-in)';
  }
  const near = nearest(key, read, 4);
  return near === undefined ? undefined : `did you mean ${near}?`;
}

/**
 * A key without a value is as good as absent (`evictionSoft:` with everything below commented out), except an entry of a map by signal,
 * where only the value is missing.
 */
function withoutNulls(value: unknown): unknown {
  const prune = (inner: unknown, key: string | undefined): unknown => {
    if (Array.isArray(inner)) return inner.map((item) => prune(item, undefined));
    if (!isRecord(inner)) return inner;
    const isBySignal = key !== undefined && BY_SIGNAL.includes(key);
    return Object.fromEntries(
      Object.entries(inner)
        .filter(([, child]) => isBySignal || child !== null)
        .map(([name, child]) => [name, prune(child, name)]),
    );
  };
  return prune(value ?? {}, undefined);
}

const BY_SIGNAL = ['evictionHard', 'evictionSoft', 'evictionSoftGracePeriod', 'evictionMinimumReclaim'];
