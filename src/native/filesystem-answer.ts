import { answered } from './answered.js';
import type { Binding, FilesystemReading, FilesystemStats } from './binding.js';

const WITHIN_MS = 5_000;

/** What a filesystem says now; undefined: nothing in time. statfs has a thread of its own, so that nothing else waits for one that hangs. */
export async function answerOf(filesystem: FilesystemStats): Promise<FilesystemReading | undefined> {
  const said = await answered<FilesystemReading | undefined>(WITHIN_MS, (onDone) => {
    const isAsked = filesystem.request(() => {
      onDone(filesystem.read());
    });
    if (!isAsked) onDone(undefined); // it hangs already
    return { close: () => undefined };
  });
  return typeof said === 'string' ? undefined : said;
}

/** Which of these paths are there, with the device that each lies on; what does not answer in time is not. */
export async function devicesOf(native: Pick<Binding, 'FilesystemStats'>, paths: readonly string[]): Promise<ReadonlyMap<string, bigint>> {
  return new Map([...(await answersOf(native, paths))].map(([path, { device }]) => [path, device]));
}

/** What the filesystems of those of these paths say that are there; what does not answer in time is not. */
export async function answersOf(
  native: Pick<Binding, 'FilesystemStats'>,
  paths: readonly string[],
): Promise<ReadonlyMap<string, FilesystemReading>> {
  const answers = await Promise.all(
    paths.map(async (path) => {
      const filesystem = new native.FilesystemStats(path);
      const reading = await answerOf(filesystem);
      filesystem.close();
      return reading?.errno === 0 ? ([[path, reading]] as const) : [];
    }),
  );
  return new Map(answers.flat());
}
