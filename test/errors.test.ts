import { build } from 'esbuild';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { APART } from '../packaging/bundles.js';
import * as errors from '../src/errors.js';
import { NoJournalError } from '../src/journal/reading/journal-reader.js';

const directory = mkdtempSync(join(tmpdir(), 'evictd-errors-'));
afterAll(() => {
  rmSync(directory, { recursive: true });
});

/** The error classes of a bundle, as esbuild.config.js builds one of this module. */
async function classesOf(file: string, entry: string): Promise<typeof errors> {
  const outfile = join(directory, file);
  const contents = `export * from './src/errors.js';\nexport * as rest from './${entry.replace(/\.ts$/, '.js')}';`;
  const define = { 'import.meta.dirname': '__dirname', 'import.meta.url': '__filename' };
  await build({
    ...{ stdin: { contents, resolveDir: resolve('.'), loader: 'ts' }, outfile, define },
    ...{ bundle: true, platform: 'node', target: 'node20.19', format: 'cjs', external: ['@grpc/proto-loader'], logLevel: 'error' },
  });
  return createRequire(import.meta.url)(outfile) as typeof errors;
}

/** One of each class, with the classes that it has. */
const made = (of: typeof errors): readonly (readonly [Error, readonly (keyof typeof errors)[]])[] => [
  [new of.EvictdError('E', 'm'), ['EvictdError']],
  [new of.ConfigError([]), ['EvictdError', 'ConfigError']],
  [new of.HostError('E', 'm'), ['EvictdError', 'HostError']],
  [new of.DocumentError('m', { path: '' }), ['EvictdError', 'DocumentError']],
  [new of.UnavailableError('E', 'm'), ['EvictdError', 'UnavailableError']],
  [new of.InputError('E', 'm', { isMissing: true }), ['EvictdError', 'InputError']],
  [new of.UsageError('E', 'm'), ['EvictdError', 'UsageError']],
  [new Error('m'), []],
];

/** By `instanceof`. */
const classesIn = (of: typeof errors, value: unknown): string[] =>
  Object.entries(of)
    .filter(([name, each]) => name.endsWith('Error') && value instanceof (each as unknown as typeof Error))
    .map(([name]) => name);

describe('errors of another bundle', () => {
  test.each(Object.entries(APART))('%s', async (file, entry) => {
    const others = await classesOf(file, entry);
    expect(others.EvictdError).not.toBe(errors.EvictdError);
    for (const [there, here] of [
      [others, errors],
      [errors, others],
      [errors, errors],
    ] as const) {
      for (const [error, names] of made(there)) expect(classesIn(here, error).sort()).toEqual([...names].sort());
    }
  });

  test('are not instances of a class of the same name in another module', () => {
    expect(new errors.InputError('E', 'm', { isMissing: true })).not.toBeInstanceOf(NoJournalError);
    expect(new NoJournalError('/var/lib')).toBeInstanceOf(NoJournalError);
    expect(new NoJournalError('/var/lib')).toBeInstanceOf(errors.InputError);
    expect(classesIn(errors, undefined)).toEqual([]);
  });
});
