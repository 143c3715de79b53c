import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { replaceFileSync } from '../../directory.js';
import type { Requests } from '../requests.js';

const LOOK_MS = 250;

interface Written {
  readonly pid: number;
  readonly what: 'reload' | 'stop';
  /** Of this request alone: it stays where it is when it has been heard. */
  readonly id: string;
}

/** Beside the lock of an instance: only who may write to the runtime directory can ask for something. */
function requestPath(lock: string): string {
  return lock.replace(/\.lock$/, '.request.json');
}

/** Windows has no signals: a process is asked by a file. */
export function askByFile(lock: string, pid: number, what: Written['what']): void {
  const written: Written = { pid, what, id: randomUUID() };
  replaceFileSync(requestPath(lock), `${JSON.stringify(written)}\n`, 0o600);
}

/**
 * The file is read four times a second, away from the event loop: its times would tell less, for they change when it is read, too. What stands there from before was for another process.
 */
export function listenToRequests(lock: string, { reload, stop }: Requests): { close(): void } {
  const path = requestPath(lock);
  rmSync(path, { force: true });
  let heard = '';
  let closed = false;
  const look = async (): Promise<void> => {
    const asked = await readRequest(path);
    if (closed) return;
    if (asked?.pid === process.pid && asked.id !== heard) {
      heard = asked.id;
      if (asked.what === 'reload') reload();
      else stop();
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

/** undefined: there is none, or it is being replaced; then it is looked at again. */
async function readRequest(path: string): Promise<Written | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Written;
  } catch {
    return undefined;
  }
}
