import { readFileSync, rmSync, unwatchFile, watchFile } from 'node:fs';
import { replaceFileSync } from '../../directory.js';
import type { Requests } from '../requests.js';

const LOOK_MS = 250;

interface Written {
  readonly pid: number;
  readonly what: 'reload' | 'stop';
}

/** Beside the lock of an instance: only who may write to the runtime directory can ask for something. */
function requestPath(lock: string): string {
  return lock.replace(/\.lock$/, '.request.json');
}

/** Windows has no signals: a process is asked by a file. */
export function askByFile(lock: string, pid: number, what: Written['what']): void {
  const written: Written = { pid, what };
  replaceFileSync(requestPath(lock), `${JSON.stringify(written)}\n`, 0o600);
}

/** The time of the file is looked at, away from the event loop; what stands there from before was for another process. */
export function listenToRequests(lock: string, { reload, stop }: Requests): { close(): void } {
  const path = requestPath(lock);
  rmSync(path, { force: true });
  const look = (): void => {
    const asked = readRequest(path);
    if (asked?.pid !== process.pid) return;
    if (asked.what === 'reload') reload();
    else stop();
  };
  watchFile(path, { interval: LOOK_MS, persistent: false }, look);
  return {
    close: () => {
      unwatchFile(path, look);
    },
  };
}

/** undefined: there is none, or it is being replaced; then it is looked at again. */
function readRequest(path: string): Written | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Written;
  } catch {
    return undefined;
  }
}
