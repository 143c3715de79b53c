import type { Resource } from '../signal/resource.js';
import type { DiskAmount } from './disk-amount.js';

/** The bytes or the inodes, whichever the resource counts. */
export function ofResource(resource: Resource, { bytes, inodes }: DiskAmount): bigint {
  return resource === 'inodes' ? inodes : bytes;
}
