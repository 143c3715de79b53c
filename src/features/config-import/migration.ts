import type { SourcePosition } from '../../errors.js';
import type { Comparator } from '../../core/policy/configured-policy.js';

/** A setting of the other program and what becomes of it. */
export interface Note {
  /** The setting as it is written in the other configuration, with its value. */
  readonly setting: string;
  readonly position: SourcePosition;
  readonly text: string;
}

/** Steps of a ladder as the configuration has them. */
export type MigratedStep =
  | 'notify'
  | { readonly run: readonly string[] | { readonly command: readonly string[]; readonly timeout: string } }
  | { readonly freeze: { readonly for: string } }
  | { readonly stop: { readonly grace: string; readonly by: readonly Comparator[]; readonly unit?: 'process' } }
  | {
      readonly kill: {
        /** Left out: the order of evictions. */
        readonly by?: readonly Comparator[];
        readonly unit?: 'process';
        readonly recursive?: true;
      };
    };

export interface MigratedPolicy {
  /** Any text; the writer makes a name of it that is unique. */
  readonly title: string;
  readonly notes: readonly Note[];
  readonly scope?: string;
  readonly when: string;
  readonly for?: string;
  readonly unless?: string;
  readonly cooldown?: string;
  readonly then: readonly MigratedStep[];
}

/** An entry of `workloads` or `rules`. */
export interface MigratedEntry {
  readonly notes: readonly Note[];
  readonly value: Readonly<Record<string, unknown>>;
}

/** The configuration of evictd that replaces another program's. */
export interface Migration {
  /** Remarks about the whole conversion, before everything else: a paragraph each. */
  readonly remarks: readonly string[];
  /** Other keys of the configuration, one map each. */
  readonly settings: readonly MigratedEntry[];
  readonly workloads: readonly MigratedEntry[];
  readonly rules: readonly MigratedEntry[];
  readonly policies: readonly MigratedPolicy[];
  /** Settings without a counterpart that belong to no policy. */
  readonly rest: readonly Note[];
}

/** A row of docs/migrating.md: settings of the other program and what they are in evictd. */
export interface Mapping {
  readonly settings: readonly string[];
  /** Left out: evictd has no counterpart. */
  readonly becomes?: string;
  /** Without a counterpart: why, and the nearest one. With a counterpart: the difference. */
  readonly note?: string;
}

/** What a comment says about a setting: from the row of the table that has it. */
function mappingText({ becomes, note }: Mapping): string {
  if (becomes === undefined) return `no counterpart: ${note ?? ''}`;
  return note === undefined ? becomes : `${becomes}; ${note}`;
}

/** Finds the rows of a table by their settings. */
export class Mappings {
  readonly #rows = new Map<string, Mapping>();

  constructor(rows: readonly Mapping[]) {
    for (const row of rows) for (const setting of row.settings) this.#rows.set(setting, row);
  }

  has(setting: string): boolean {
    return this.#rows.has(setting);
  }

  hasCounterpart(setting: string): boolean {
    return this.#rows.get(setting)?.becomes !== undefined;
  }

  /** A note with the row's text; a setting that no row has is reported as unknown. */
  note(setting: string, written: string, position: SourcePosition): Note {
    const row = this.#rows.get(setting);
    return { setting: written, position, text: row === undefined ? UNKNOWN : mappingText(row) };
  }
}

const UNKNOWN = 'no counterpart: evictd does not know this setting. See the manual of the program that you come from';

/** `FILE:LINE: setting: text`; of a drop-in with its directory, which names the unit. */
export function noteText({ setting, position: { file, line = 1 }, text }: Note): string {
  const [, name = file] = /((?:[^/]*\.d\/)?[^/]*)$/.exec(file) ?? [];
  return `${name}:${String(line)}: ${setting}: ${text}`;
}
