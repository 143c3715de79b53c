import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { JournalFiles } from '../../src/journal/journal-files.js';

function files(maxBytes: number, maxFiles: number): { readonly journal: JournalFiles; readonly directory: string } {
  const directory = mkdtempSync(join(tmpdir(), 'evictd-test-'));
  const nothing = { close: () => undefined };
  const journal = new JournalFiles(
    directory,
    { maxBytes, maxFiles },
    () => Promise.resolve(),
    () => nothing,
    false,
  );
  onTestFinished(async () => {
    await journal.close();
    rmSync(directory, { recursive: true });
  });
  return { journal, directory };
}

test('a full journal file is renamed, and the oldest is removed', async () => {
  const { journal, directory } = files(10, 3);
  for (const line of ['one\n', 'two\n', 'three\n', 'four\n', 'five\n', 'six\n', 'seven\n']) {
    await journal.open();
    await journal.prepare();
    await journal.append(line);
  }
  const text = (name: string): string => readFileSync(join(directory, name), 'utf8');
  expect(readdirSync(directory).sort()).toEqual(['journal.jsonl', 'journal.jsonl.1', 'journal.jsonl.2', 'journal.jsonl.next']);
  expect(['journal.jsonl.2', 'journal.jsonl.1', 'journal.jsonl'].map(text)).toEqual(['three\n', 'four\nfive\n', 'six\nseven\n']);
});
