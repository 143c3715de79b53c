import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Script } from 'node:vm';
import { crc32 } from 'node:zlib';

/** Of a cache: the CRC-32 of the Node that made it, the program and the code. */
const HEAD_BYTES = 4;

/** The program as it was bundled, and V8's code of it beside it, if there is any: half of a start is compiling. */
export interface Program {
  readonly script: Script;
  /** false: there was no code, or it was made by another Node, with other flags of V8 or of another program, or is damaged. V8 compiles then. */
  readonly cached: boolean;
}

/** @param node  the Node that compiles */
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

/** With what it has run until now. */
export function writeProgramCode({ script }: Program, directory: string): void {
  const code = script.createCachedData();
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32LE(checksum(thisNode(), readFileSync(programFile(directory)), code));
  writeFileSync(cacheFile(directory), Buffer.concat([head, code]));
}

/** V8 would run what it is given: it looks at the length of the source and not at the code, which may be damaged. */
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

/** This very program file: V8 tells its versions apart, but not two builds of one, and crashes with the code of the other (seen: 20.20.2 and 20.19.0). */
function thisNode(): string {
  const { size, mtimeMs } = statSync(process.execPath);
  return [process.version, process.arch, size, Math.floor(mtimeMs / 1_000)].join(' ');
}

/** The bundler writes ASCII but for comments: a string of one byte a character, in half the memory. */
function wrapped(source: Buffer): string {
  return `(function (require, __filename, __dirname) {${source.toString('latin1')}\n})`;
}

const programFile = (directory: string): string => join(directory, 'program.cjs');
const cacheFile = (directory: string): string => join(directory, 'program.cache');
