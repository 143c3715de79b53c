import { readFileSync } from 'node:fs';
import { basename } from 'node:path';

import { AREAS } from './areas.js';
import { isObject, parseJson, type JsonObject } from './json.js';
import { lineArea } from './line-area.js';
import type { Check, Vector } from './vector.js';

/** Exit codes of sysexits.h. */
export type VectorFileProblem = 64 | 65 | 66;

/** A file that cannot be run: no such area, not of the format, or unreadable. */
export class VectorFileError extends Error {
  override readonly name = 'VectorFileError';
  constructor(
    readonly exitCode: VectorFileProblem,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

export interface VectorFile {
  readonly path: string;
  readonly check: Check;
  readonly vectors: readonly (Vector & { readonly lineNumber: number })[];
}

/** @throws VectorFileError */
export function readVectorFile(path: string): VectorFile {
  const byName = AREAS.get(basename(path, '.jsonl'));
  const seen = new Set<string>();
  const vectors = readText(path)
    .split('\n')
    .flatMap((text, index) => {
      if (text.trim() === '') return [];
      const vector = { ...parseLine(text, `${path}:${index + 1}`), lineNumber: index + 1 };
      if (seen.has(vector.name))
        throw new VectorFileError(65, `${path}:${index + 1}: "${vector.name}" is the name of an earlier line, too`);
      seen.add(vector.name);
      return [vector];
    });
  if (vectors.length === 0) throw new VectorFileError(65, `${path}:1: no vectors`);
  return { path, check: byName ?? checkByFields(path, vectors), vectors };
}

function checkByFields(path: string, vectors: VectorFile['vectors']): Check {
  const checks = new Map(
    vectors.map((vector) => {
      const area = lineArea(vector.line);
      const check = area === undefined ? undefined : AREAS.get(area);
      if (check === undefined) {
        throw new VectorFileError(
          64,
          `${path}:${vector.lineNumber}: unknown area: the line looks like none, and the file's name is not one of ${[...AREAS.keys()].join(', ')}, with .jsonl`,
        );
      }
      return [vector.name, check];
    }),
  );
  return (vector) => checks.get(vector.name)?.(vector) ?? [];
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new VectorFileError(66, cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

function parseLine(text: string, at: string): Vector {
  const line = parseObject(text, at);
  const { name, why } = line;
  if (typeof name !== 'string') throw new VectorFileError(65, `${at}: "name" must be a text`);
  return { name, why: typeof why === 'string' ? why : '', line };
}

function parseObject(text: string, at: string): JsonObject {
  try {
    const value = parseJson(text);
    if (isObject(value)) return value;
  } catch (cause) {
    throw new VectorFileError(65, `${at}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
  throw new VectorFileError(65, `${at}: a JSON object is expected`);
}
