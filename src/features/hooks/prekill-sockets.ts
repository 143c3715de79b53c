import { readdir } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { trustOf } from '../../host/linux/process/other-writer.js';
import { native } from '../../native/index.js';

/** The directory in which systemd v260 looks for sockets: oomd.conf(5), "PREKILL EVENT". */
export const PREKILL_DIRECTORY = '/run/systemd/oomd.prekill.hook';
/** A reply has a few bytes. */
const MAX_REPLY_BYTES = 64 * 1024;

/** The sockets in the directory, which is seldom there. None if users other than root can make one: it would delay evictions. */
export async function prekillSockets(directory: string): Promise<readonly string[]> {
  try {
    if ((await trustOf(native, directory)).problem !== undefined) return [];
    const entries = await readdir(directory, { withFileTypes: true });
    return entries.flatMap((entry) => (entry.isSocket() ? [join(directory, entry.name)] : []));
  } catch {
    return [];
  }
}

/**
 * Calls io.systemd.oom.Prekill.Notify(cgroup) as systemd-oomd does (src/oom/oomd-util.c, send_prekill_message, v260):
 * one connection and one call, whose reply ends it.
 *
 * @param cgroup  below the root of cgroup2
 * @returns the error; undefined: it has replied. It may never resolve before `signal` is aborted.
 */
export function callPrekill(path: string, cgroup: string, signal: AbortSignal): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = createConnection({ path, signal });
    let reply = '';
    const over = (error: string | undefined): void => {
      socket.destroy();
      resolve(error);
    };
    socket.unref();
    socket.setEncoding('utf8');
    socket.on('connect', () => {
      socket.write(`${JSON.stringify({ method: 'io.systemd.oom.Prekill.Notify', parameters: { cgroup } })}\0`);
    });
    socket.on('data', (text: string) => {
      reply += text;
      if (reply.includes('\0')) over(errorIn(reply));
      else if (reply.length > MAX_REPLY_BYTES) over('its reply is too long');
    });
    socket.on('error', (error) => {
      over(error.message);
    });
    socket.on('close', () => {
      over('it closed the connection without a reply');
    });
  });
}

/** `{"error": "…", "parameters": {…}}`, or `{"parameters": {…}}`. */
function errorIn(reply: string): string | undefined {
  try {
    const { error } = JSON.parse(reply.slice(0, reply.indexOf('\0'))) as { readonly error?: unknown };
    return error === undefined ? undefined : typeof error === 'string' ? error : JSON.stringify(error);
  } catch {
    return 'its reply is not JSON';
  }
}
