import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Script } from 'node:vm';
import { crc32 } from 'node:zlib';

/** The header of the cache: a CRC-32 of the Node version, the program and the code. */
const HEAD_BYTES = 4;

/** The bundled program, with V8's cached code if there is any. Compiling takes half of a start. */
interface Program {
  readonly script: Script;
  /**
   * false: no cached code, or it was made by another Node, with other V8 flags or for another program, or is damaged.
   * V8 then compiles.
   */
  readonly cached: boolean;
}

export function compileProgram(directory: string, node = thisNode()): Program {
  const filename = programFile(directory);
  const source = readFileSync(filename);
  const cachedData = codeOf(source, cacheFile(directory), node);
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

/** Includes the functions that have run so far. */
export function writeProgramCode({ script }: Program, directory: string): void {
  const code = script.createCachedData();
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32LE(checksum(thisNode(), readFileSync(programFile(directory)), code));
  writeFileSync(cacheFile(directory), Buffer.concat([head, code]));
}

/** V8 checks only the length of the source, and would run damaged code. */
function codeOf(source: Buffer, file: string, node: string): Buffer | undefined {
  let cache: Buffer;
  try {
    cache = readFileSync(file);
  } catch {
    return undefined;
  }
  if (cache.length <= HEAD_BYTES) return undefined;
  const code = cache.subarray(HEAD_BYTES);
  return cache.readUInt32LE() === checksum(node, source, code) ? code : undefined;
}

function checksum(node: string, source: Buffer, code: Buffer): number {
  return crc32(code, crc32(source, crc32(node)));
}

/**
 * Identifies the Node binary: V8 distinguishes versions, but not builds, and crashes with the code of another build
 * (seen: 20.20.2 and 20.19.0).
 */
function thisNode(): string {
  const { size, mtimeMs } = statSync(process.execPath);
  return [process.version, process.arch, size, Math.floor(mtimeMs / 1_000)].join(' ');
}

/** The bundle is ASCII except for comments: as latin1 it takes half of the memory. */
function wrapped(source: Buffer): string {
  return `(function (require, __filename, __dirname) {${source.toString('latin1')}\n})`;
}

const programFile = (directory: string): string => join(directory, 'program.cjs');
const cacheFile = (directory: string): string => join(directory, 'program.cache');
