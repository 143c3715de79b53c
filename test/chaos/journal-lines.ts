import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A record of the journal: the checker reads it as docs/journal.md has it, without code of evictd. */
export interface JournalRecord {
  readonly time: string;
  readonly type: string;
  readonly decision?: number;
  readonly signal?: string;
  readonly wake?: string;
  readonly wakeAtNs?: number | string;
  readonly victim?: { readonly name: string; readonly id: string };
  readonly repeats?: boolean;
  readonly result?: string;
  readonly notFreed?: string;
  readonly spansMs?: { readonly crossingToSignal?: number };
  /** Of a decision: what had to be available. Of a `kernel-oom`: which limit was reached. */
  readonly limit?: number | string;
  readonly kind?: string;
  readonly threshold?: string;
  readonly thresholdValue?: number | string;
  readonly met?: boolean;
  readonly resumed?: object;
  readonly workload?: { readonly name: string };
  readonly alert?: string;
  readonly message?: string;
}

export interface JournalText {
  readonly records: readonly JournalRecord[];
  /** Lines that are no JSON, without those that a record `torn` explains. */
  readonly broken: readonly string[];
}

export function parseJournal(text: string): JournalText {
  const records: JournalRecord[] = [];
  let broken: string[] = [];
  for (const line of text.replaceAll('\0', '').split('\n')) {
    if (line === '') continue;
    try {
      const record = JSON.parse(line) as JournalRecord;
      if (record.type === 'torn') broken = broken.slice(0, -1);
      records.push(record);
    } catch {
      broken.push(line);
    }
  }
  return { records, broken };
}

/** All files of the journal in a state directory, the oldest first. */
export function readJournal(directory: string): JournalText {
  const age = (name: string): number => Number(/\.(\d+)$/.exec(name)?.[1] ?? 0);
  const names = readdirSync(directory).filter((name) => /^journal\.jsonl(\.\d+)?$/.test(name));
  return parseJournal(
    names
      .sort((a, b) => age(b) - age(a))
      .map((name) => readFileSync(join(directory, name), 'utf8'))
      .join('\n'),
  );
}
