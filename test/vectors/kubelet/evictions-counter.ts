import type { StorageBreach } from '../../../src/core/disk/storage-limit.js';

/** The label of the kubelet's evictions counter. */
export function breachCounter({ kind }: StorageBreach): string {
  switch (kind) {
    case 'emptyDir':
      return 'emptydirfs.limit';
    case 'pod':
      return 'ephemeralpodfs.limit';
    case 'container':
      return 'ephemeralcontainerfs.limit';
  }
}
