import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Script } from 'node:vm';
import { crc32 } from 'node:zlib';

/** Of a cache: the CRC-32 of the program and the code. */
const HEAD_BYTES = 4;

/** The program as it was bundled, and V8's code of it beside it, if there is any: half of a start is compiling. */
export interface Program {
  readonly script: Script;
  /** false: there was no code, or it was made by another Node, for another processor, with other flags or of another program, or is damaged. V8 compiles then. */
  readonly cached: boolean;
}

export function compileProgram(directory: string): Program {
  const filename = programFile(directory);
  const source = readFileSync(filename);
  const cachedData = codeOf(source, cacheFile(directory));
  const script = new Script(wrapped(source), {
    filename,
    ...(cachedData && { cachedData }),
  });
  return { script, cached: cachedData !== undefined && script.cachedDataRejected === false };
}

export function runProgram({ script }: Program, directory: string): void {
  const filename = programFile(directory);
  const main = script.runInThisContext() as (require: NodeJS.Require, __filename: string, __dirname: string) => void;
  main(createRequire(filename), filename, directory);
}

/** With what it has run until now. */
export function writeProgramCode({ script }: Program, directory: string): void {
  const code = script.createCachedData();
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32LE(crc32(code, crc32(readFileSync(programFile(directory)))));
  writeFileSync(cacheFile(directory), Buffer.concat([head, code]));
}

/** Of a program that was edited, or of a disk that lies, V8 would run what it is given: it looks at the length of the source, and not at the code. */
function codeOf(source: Buffer, file: string): Buffer | undefined {
  let cache: Buffer;
  try {
    cache = readFileSync(file);
  } catch {
    return undefined;
  }
  if (cache.length <= HEAD_BYTES) return undefined;
  const code = cache.subarray(HEAD_BYTES);
  return cache.readUInt32LE() === crc32(code, crc32(source)) ? code : undefined;
}

/** The bundler writes ASCII but for comments: a string of one byte a character, in half the memory. */
function wrapped(source: Buffer): string {
  return `(function (require, __filename, __dirname) {${source.toString('latin1')}\n})`;
}

const programFile = (directory: string): string => join(directory, 'program.cjs');
const cacheFile = (directory: string): string => join(directory, 'program.cache');
