import { isPressure, isSignal, SIGNALS, type Signal } from '../../core/signal/signal.js';
import { ConfigError, type ConfigIssue, type SourcePosition } from '../../errors.js';

/** The keys and list indexes from the root of a document to a value. */
export type KeyPath = readonly (string | number)[];

/** `rules[0].match.name`, `evictionHard.memory.available`. */
export function keyText(path: KeyPath): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${String(key)}]`;
    return text === '' ? key : `${text}.${key}`;
  }, '');
}

/** The most similar candidate, ignoring case; undefined: more than 1/`part` of the letters differ from each. */
export function nearest<T extends string>(word: string, candidates: readonly T[], part = 2): T | undefined {
  const ranked = candidates
    .map((candidate) => ({ candidate, distance: distance(word.toLowerCase(), candidate.toLowerCase()) }))
    .sort((a, b) => a.distance - b.distance);
  const best = ranked[0];
  return best !== undefined && best.distance * part <= Math.max(word.length, best.candidate.length) ? best.candidate : undefined;
}

/** "did you mean X?", or the accepted candidates if none is similar. */
export function suggestion(word: string, candidates: readonly string[]): string {
  if (candidates.length === 0) return 'remove it: there is no key here';
  const near = nearest(word, candidates);
  return near === undefined ? `accepted: ${candidates.join(', ')}` : `did you mean ${near}?`;
}

/** The hint for a key that is, or nearly is, the name of a signal in a wrong place; undefined: it is not. */
export function misplacedSignalHint(key: string): string | undefined {
  const signal = isSignal(key) ? key : nearest(key, SIGNALS, 8);
  if (signal === undefined) return undefined;
  return isPressure(signal)
    ? `a signal: write thresholds: [{when: '${signal}>40%', kind: soft, for: 10s}]`
    : `a signal: indent it below evictionHard (or evictionSoft, evictionSoftGracePeriod, evictionMinimumReclaim)`;
}

/** Levenshtein distance, of at most 64 letters of `a`. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 0; i < Math.min(a.length, 64); i++) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++) {
      next.push(Math.min((row[j] ?? 0) + (b[j] === a[i] ? 0 : 1), (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

/** A warning or a remark about a valid configuration. */
export interface ConfigNotice {
  readonly level: 'error' | 'warn' | 'info';
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
  readonly position?: SourcePosition;
  readonly key?: string;
  /** The signal that cannot be read, or is only polled. */
  readonly signal?: Signal;
}

/** Collects the issues and notices of a configuration, so that all are reported at once. */
export class Report {
  readonly issues: ConfigIssue[] = [];
  readonly notices: ConfigNotice[] = [];

  issue(code: string, message: string, position: SourcePosition, hint?: string): void {
    this.issues.push({ code, message, position, ...(hint === undefined ? {} : { hint }) });
  }

  notice(level: ConfigNotice['level'], code: string, message: string, options: { hint?: string; position?: SourcePosition } = {}): void {
    this.notices.push({ level, code, message, ...options });
  }

  /**
   * @param files  in the order of the issues; those of flags come last
   * @throws ConfigError  with every issue, each file from top to bottom
   */
  throwIssues(files: readonly string[]): void {
    if (this.issues.length === 0) return;
    const rank = ({ position }: ConfigIssue): number => (files.includes(position.file) ? files.indexOf(position.file) : files.length);
    const inOrder = (a: ConfigIssue, b: ConfigIssue): number =>
      rank(a) - rank(b) ||
      (rank(a) === files.length
        ? 0
        : (a.position.line ?? 0) - (b.position.line ?? 0) || (a.position.column ?? 0) - (b.position.column ?? 0));
    throw new ConfigError(this.issues.toSorted(inOrder));
  }
}
