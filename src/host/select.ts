import { HostError } from '../errors.js';
import { readBootId } from './linux/boot-id.js';
import { ownMemoryCgroup, readHierarchies } from './linux/hierarchies.js';
import { instanceName, lockInstance } from './linux/instance-lock.js';
import { KernelLogWatch } from './linux/kernel-log.js';
import { readMemoryReserve } from './linux/memory-reserve.js';
import { openNode } from './linux/node.js';
import { domainOf } from './linux/oom-killer/domain.js';
import { readOomKiller } from './linux/oom-killer/killer.js';
import { readMayEndOthers } from './linux/privilege.js';
import { openServiceManager } from './linux/service-manager.js';

export type { NodeConfig, LinuxNode, NotifierMode } from './linux/node.js';
export type { KernelLogWatch } from './linux/kernel-log.js';
export type { InstanceLock } from './linux/instance-lock.js';

/** What evictd needs of an operating system. */
export interface Host {
  readonly openNode: typeof openNode;
  readonly lockInstance: typeof lockInstance;
  readonly readHierarchies: typeof readHierarchies;
  readonly ownMemoryCgroup: typeof ownMemoryCgroup;
  readonly mayEndOthers: () => boolean;
  readonly instanceName: typeof instanceName;
  readonly readBootId: typeof readBootId;
  readonly readOomKiller: typeof readOomKiller;
  readonly oomDomainOf: typeof domainOf;
  readonly readMemoryReserve: typeof readMemoryReserve;
  readonly KernelLogWatch: typeof KernelLogWatch;
  readonly openServiceManager: typeof openServiceManager;
}

/** The one place that asks which platform this is. */
export function selectHost(platform: NodeJS.Platform = process.platform): Host {
  if (platform === 'linux') {
    return {
      openNode,
      lockInstance,
      readHierarchies,
      ownMemoryCgroup,
      mayEndOthers: readMayEndOthers,
      instanceName,
      readBootId,
      readOomKiller,
      oomDomainOf: domainOf,
      readMemoryReserve,
      KernelLogWatch,
      openServiceManager,
    };
  }
  throw new HostError('EVICTD_HOST_PLATFORM', `evictd does not run on ${platform} yet`, { hint: 'it runs on Linux' });
}
