import { withinTime } from './bounded-answer.js';
import type { Binding, FilesystemReading, FilesystemStats } from './binding.js';

const WITHIN_MS = 5_000;

/**
 * What a filesystem reports now; undefined: no answer in time. statfs has its own thread, so that a filesystem that
 * hangs blocks nothing else.
 */
export async function readFilesystem(filesystem: FilesystemStats): Promise<FilesystemReading | undefined> {
  const reading = await withinTime<FilesystemReading | undefined>(WITHIN_MS, (onDone) => {
    const isRequested = filesystem.request(() => {
      onDone(filesystem.read());
    });
    if (!isRequested) onDone(undefined); // it hangs already
    return { close: () => undefined };
  });
  return typeof reading === 'string' ? undefined : reading;
}

/** The existing paths with their devices; paths without an answer in time are left out. */
export async function devicesOf(native: Pick<Binding, 'FilesystemStats'>, paths: readonly string[]): Promise<ReadonlyMap<string, bigint>> {
  return new Map([...(await readFilesystems(native, paths))].map(([path, { device }]) => [path, device]));
}

/** What the filesystems of the existing paths report; paths without an answer in time are left out. */
export async function readFilesystems(
  native: Pick<Binding, 'FilesystemStats'>,
  paths: readonly string[],
): Promise<ReadonlyMap<string, FilesystemReading>> {
  const answers = await Promise.all(
    paths.map(async (path) => {
      const filesystem = new native.FilesystemStats(path);
      const reading = await readFilesystem(filesystem);
      filesystem.close();
      return reading?.errno === 0 ? ([[path, reading]] as const) : [];
    }),
  );
  return new Map(answers.flat());
}
