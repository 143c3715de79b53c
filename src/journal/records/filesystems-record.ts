import type { ReportedFilesystems } from '../../monitor/ports/container-runtime.js';
import type { JournalRecord } from './record.js';

/**
 * Where images and containers are from now on.
 *
 * @param reported  undefined: where the configuration says
 * @param isApart  images are not on nodefs
 */
export function filesystemsRecord(reported: ReportedFilesystems | undefined, isApart: boolean): JournalRecord {
  if (reported === undefined) return { type: 'filesystems', message: 'images and containers are where the configuration says' };
  const { endpoint, imagefs, containerfs = imagefs } = reported;
  const what = containerfs === imagefs ? 'images and containers are' : `containers are in ${containerfs}, images`;
  const where = isApart ? 'not on nodefs' : 'on nodefs';
  return { type: 'filesystems', endpoint, imagefs, containerfs, message: `${endpoint} says that ${what} in ${imagefs}, ${where}` };
}
