import { readdirSync, readFileSync } from 'node:fs';

/** The inotify watches of a process, over all its instances, as /proc/PID/fdinfo lists them. */
export function inotifyWatches(pid: number | 'self' = 'self'): string[] {
  const directory = `/proc/${String(pid)}/fdinfo`;
  return readdirSync(directory).flatMap((descriptor) => {
    try {
      return readFileSync(`${directory}/${descriptor}`, 'utf8')
        .split('\n')
        .filter((line) => line.startsWith('inotify wd:'));
    } catch {
      return []; // closed meanwhile, as the descriptor of this listing
    }
  });
}
