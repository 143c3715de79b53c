import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import * as z from 'zod/mini';
import { checkedJson } from '../../storage/checked-json.js';
import { writtenPid } from '../../storage/written-number.js';
import { replaceFileSync } from '../../storage/directory.js';
import type { Requests } from '../requests.js';

const LOOK_MS = 250;

/** `id` identifies the request: the file stays after it was read. */
function written() {
  return z.object({ pid: writtenPid(), what: z.enum(['reload', 'resume', 'stop']), id: z.string() });
}
type Written = z.infer<ReturnType<typeof written>>;

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

/** undefined: none, or it is being replaced and is read again, or it is no request. */
async function readRequest(path: string): Promise<Written | undefined> {
  try {
    return checkedJson(await readFile(path, 'utf8'), written());
  } catch {
    return undefined;
  }
}
