import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Script } from 'node:vm';
import { crc32 } from 'node:zlib';

/** The header of the cache: a CRC-32 of the Node version, the program and the code. */
const HEAD_BYTES = 4;

/** `check` alone is a program of its own, with less than half to read and to compile. */
export const PROGRAMS = ['check', 'program'] as const;

/** The program that has the command of these arguments. */
export function programOf(args: readonly string[]): (typeof PROGRAMS)[number] {
  return args[0] === 'check' ? 'check' : 'program';
}

/** A bundled program, with V8's cached code if there is any. Compiling takes half of a start. */
interface Program {
  /** Its path, without `.cjs`. */
  readonly path: string;
  readonly script: Script;
  /**
   * false: no cached code, or it was made by another Node, with other V8 flags or for another program, or is damaged.
   * V8 then compiles.
   */
  readonly cached: boolean;
}

/** @param path  without `.cjs` */
export function compileProgram(path: string, node = thisNode()): Program {
  const source = readFileSync(`${path}.cjs`);
  const cachedData = codeOf(source, `${path}.cache`, node);
  // The bundle is ASCII except for comments: as latin1 it takes half of the memory.
  const script = new Script(source.toString('latin1'), {
    filename: `${path}.cjs`,
    ...(cachedData && { cachedData }),
  });
  return { path, script, cached: cachedData !== undefined && script.cachedDataRejected === false };
}

export function runProgram({ path, script }: Program): void {
  const filename = `${path}.cjs`;
  const main = script.runInThisContext() as (require: NodeJS.Require, __filename: string, __dirname: string) => void;
  main(createRequire(filename), filename, join(filename, '..'));
}

/** Includes the functions that have run so far. */
export function writeProgramCode({ path, script }: Program): void {
  const code = script.createCachedData();
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32LE(checksum(thisNode(), readFileSync(`${path}.cjs`), code));
  writeFileSync(`${path}.cache`, Buffer.concat([head, code]));
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
