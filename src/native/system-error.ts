import { errnoName, isShortageCode, messageOf } from '../errors.js';

/** Errors that get words (winerror.h): those of disks, shares and processes. */
const MEANINGS: Readonly<Record<number, readonly [name: string, meaning: string]>> = {
  2: ['ERROR_FILE_NOT_FOUND', 'no such file'],
  3: ['ERROR_PATH_NOT_FOUND', 'no such path'],
  4: ['ERROR_TOO_MANY_OPEN_FILES', 'too many open files'],
  5: ['ERROR_ACCESS_DENIED', 'access is denied'],
  8: ['ERROR_NOT_ENOUGH_MEMORY', 'not enough memory'],
  14: ['ERROR_OUTOFMEMORY', 'not enough memory'],
  15: ['ERROR_INVALID_DRIVE', 'no such drive'],
  21: ['ERROR_NOT_READY', 'the device is not ready'],
  53: ['ERROR_BAD_NETPATH', 'the network path was not found'],
  64: ['ERROR_NETNAME_DELETED', 'the network name is no longer available'],
  67: ['ERROR_BAD_NET_NAME', 'the network name cannot be found'],
  87: ['ERROR_INVALID_PARAMETER', 'the parameter is incorrect'],
  121: ['ERROR_SEM_TIMEOUT', 'timed out'],
  123: ['ERROR_INVALID_NAME', 'not a valid path'],
  1450: ['ERROR_NO_SYSTEM_RESOURCES', 'not enough resources of the system'],
  1453: ['ERROR_WORKING_SET_QUOTA', 'not enough quota'],
  1455: ['ERROR_COMMITMENT_LIMIT', 'the page files are too small'],
  1721: ['RPC_S_OUT_OF_RESOURCES', 'not enough resources for the call'],
  1816: ['ERROR_NOT_ENOUGH_QUOTA', 'not enough quota'],
};

/** 3 → 'ERROR_PATH_NOT_FOUND (no such path)'. `errno` is positive, as in the addon's results. */
export function systemErrorText(errno: number): string {
  const [name, meaning] = MEANINGS[errno] ?? [];
  return name === undefined || meaning === undefined ? `error ${String(errno)} of Windows` : `${name} (${meaning})`;
}

/** Whether the system, or evictd, lacked a resource. `errno` as above. */
export function isShortageOfWindows(errno: number): boolean {
  return isShortageCode(MEANINGS[errno]?.[0] ?? '');
}

/** An error of the addon, without its stack. */
export function thrownText(error: unknown): string {
  const code = errnoName(error);
  const [, meaning] = Object.values(MEANINGS).find(([name]) => name === code) ?? [];
  if (code === undefined) return messageOf(error);
  return meaning === undefined ? code : `${code} (${meaning})`;
}
