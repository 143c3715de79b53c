import { access, constants, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { DirectoryAnswer } from '../../facts.js';
import { errnoName, errnoText } from '../../../errors.js';
import type { Binding, FilesystemReading } from '../../../native/binding.js';
import { constants as os } from 'node:os';

/** A directory to examine. Never rejects; never resolves where the filesystem hangs. */
interface RequestedDirectory {
  readonly path: string;
  /** Whether evictd writes there. */
  readonly writes: boolean;
  /** Files of fixed size that evictd keeps in it. */
  readonly keeps?: readonly { readonly name: string; readonly bytes: number }[];
}

/** Reads a directory. If it is missing, the nearest existing parent counts, where it would be created. */
export async function readDirectory(
  native: Pick<Binding, 'FilesystemStats'>,
  { path, writes, keeps = [] }: RequestedDirectory,
): Promise<DirectoryAnswer> {
  let at = path;
  let reading = await statfs(native, at);
  while (reading.errno === os.errno.ENOENT && dirname(at) !== at) {
    at = dirname(at);
    reading = await statfs(native, at);
  }
  if (reading.errno !== 0) return { kind: 'error', error: errnoText(reading.errno) };
  return {
    kind: 'there',
    at,
    afterMs: reading.afterMs,
    type: reading.fsType,
    device: reading.device,
    totalBytes: BigInt(reading.totalBytes),
    availableBytes: BigInt(reading.availableBytes),
    refused: writes ? await refusalOf(at) : undefined,
    toMakeBytes: await bytesToMake(path, keeps),
  };
}

function statfs(native: Pick<Binding, 'FilesystemStats'>, path: string): Promise<FilesystemReading & { readonly afterMs: number }> {
  const stats = new native.FilesystemStats(path);
  const began = process.hrtime.bigint();
  return new Promise((resolve) => {
    stats.request(() => {
      const reading = stats.read();
      stats.close();
      resolve({ ...reading, afterMs: Number(reading.atNs - began) / 1e6 });
    });
  });
}

async function refusalOf(path: string): Promise<string | undefined> {
  try {
    await access(path, constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    return errnoName(error) ?? String(error);
  }
}

/** A file of another size is created again. */
async function bytesToMake(path: string, keeps: NonNullable<RequestedDirectory['keeps']>): Promise<bigint> {
  const sizes = await Promise.all(keeps.map(({ name }) => sizeOf(join(path, name))));
  return keeps.reduce((sum, { bytes }, index) => (sizes[index] === bytes ? sum : sum + BigInt(bytes)), 0n);
}

async function sizeOf(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).size;
  } catch {
    return undefined;
  }
}
