import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { attempt } from '../../../errors.js';
import { printable } from '../../../core/name/printable.js';
import type { Binding } from '../../../native/binding.js';

/** (uid_t) -1: the process does not belong to a login. */
const NO_LOGIN = '4294967295';

/**
 * 'uid 0 (login uid 1000), process 4711 (curl)': the process that has connected to a Unix socket, by SO_PEERCRED. With sudo
 * the login uid is that of the user. undefined: the connection is closed, or its other end is in another pid namespace.
 */
export function peerOf(native: Pick<Binding, 'peerCredentials'>, socket: Socket): string | undefined {
  const { pid = 0, uid } = credentials(native, socket) ?? {};
  if (pid === 0) return undefined;
  const login = read(`/proc/${String(pid)}/loginuid`);
  const command = read(`/proc/${String(pid)}/comm`);
  const user = `uid ${String(uid)}${login === undefined || login === NO_LOGIN || login === String(uid) ? '' : ` (login uid ${login})`}`;
  return `${user}, process ${String(pid)}${command === undefined ? '' : ` (${printable(command)})`}`;
}

/** The uid of the process that has connected to a Unix socket. undefined: the connection is closed. */
export function userOf(native: Pick<Binding, 'peerCredentials'>, socket: Socket): number | undefined {
  return credentials(native, socket)?.uid;
}

function credentials(native: Pick<Binding, 'peerCredentials'>, socket: Socket): ReturnType<Binding['peerCredentials']> | undefined {
  const { fd = -1 } = (socket as { readonly _handle?: { readonly fd?: number } | null })._handle ?? {};
  return fd < 0 ? undefined : native.peerCredentials(fd);
}

/** undefined: the process has ended. */
function read(path: string): string | undefined {
  return attempt(() => readFileSync(path, 'utf8').trimEnd());
}
