import type { ToldFilesystems } from './container-runtime.js';
import type { JournalRecord } from './record.js';

/**
 * Where images and containers are from now on.
 *
 * @param told  undefined: where the configuration says
 * @param isApart  images are not on nodefs
 */
export function filesystemsRecord(told: ToldFilesystems | undefined, isApart: boolean): JournalRecord {
  if (told === undefined) return { type: 'filesystems', message: 'images and containers are where the configuration says' };
  const { endpoint, imagefs, containerfs = imagefs } = told;
  const what = containerfs === imagefs ? 'images and containers are' : `containers are in ${containerfs}, images`;
  const where = isApart ? 'not on nodefs' : 'on nodefs';
  return { type: 'filesystems', endpoint, imagefs, containerfs, message: `${endpoint} says that ${what} in ${imagefs}, ${where}` };
}
