import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { replaceFileSync } from '../../storage/directory.js';
import type { Request, Requests } from '../requests.js';

const LOOK_MS = 250;

interface Written {
  readonly pid: number;
  readonly what: Request | 'stop';
  /** Identifies the request: the file stays after it was read. */
  readonly id: string;
}

/** The path beside the lock: only accounts that may write to the runtime directory can make a request. */
function requestPath(lock: string): string {
  return lock.replace(/\.lock$/, '.request.json');
}

/** Windows has no signals, so a request is a file. */
export function askByFile(lock: string, pid: number, what: Written['what']): void {
  const written: Written = { pid, what, id: randomUUID() };
  replaceFileSync(requestPath(lock), `${JSON.stringify(written)}\n`, 0o600);
}

/**
 * Reads the file four times a second, asynchronously; its times change on reading, too. A file from before is for
 * another process.
 */
export function listenToRequests(lock: string, requests: Requests): { close(): void } {
  const path = requestPath(lock);
  rmSync(path, { force: true });
  let heard = '';
  let closed = false;
  const look = async (): Promise<void> => {
    const request = await readRequest(path);
    if (closed) return;
    if (request?.pid === process.pid && request.id !== heard) {
      heard = request.id;
      requests[request.what]();
    }
    timer.refresh();
  };
  const timer = setTimeout(() => void look(), LOOK_MS).unref();
  return {
    close: () => {
      closed = true;
      clearTimeout(timer);
    },
  };
}

/** undefined: none, or it is being replaced and is read again. */
async function readRequest(path: string): Promise<Written | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Written;
  } catch {
    return undefined;
  }
}
