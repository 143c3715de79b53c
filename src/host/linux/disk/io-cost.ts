import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { basename } from 'node:path';
import { attempt } from '../../../errors.js';
import { fsPath, namesText } from '../../../byte-paths.js';
import { asIoStat, ioCost, type DeviceKind } from '../../../core/disk/io-cost.js';
import { cgroupDirectory } from '../../../core/workload/cgroup.js';
import type { Hierarchies } from '../cgroup/hierarchies.js';

/** They hold their data in memory or in a file, whose device has the I/O. */
const WITHOUT_DISK = /^(zram|ram|loop)\d+$/;

/** The cost of the I/O of the cgroup at a path so far; undefined: not known. Kinds of devices are looked up once. */
export function openIoCost(
  { memory, blkio }: Pick<Hierarchies, 'memory' | 'blkio'>,
  sysfs = '/sys/dev/block',
): (path: string) => number | undefined {
  const kinds = new Map<string, DeviceKind | undefined>();
  const kindOf = (device: string): DeviceKind | undefined => {
    if (!kinds.has(device)) kinds.set(device, readKind(`${sysfs}/${device}`));
    return kinds.get(device);
  };
  const hierarchy = memory?.version === 2 ? memory : blkio;
  return (path) => {
    if (hierarchy === undefined) return undefined;
    const directory = cgroupDirectory(hierarchy, path);
    const text = attempt(() => {
      if (hierarchy.version === 2) return namesText(`${directory}/io.stat`);
      const throttle = `${directory}/blkio.throttle.io`;
      return asIoStat(namesText(`${throttle}_service_bytes_recursive`), namesText(`${throttle}_serviced_recursive`));
    });
    return text === undefined ? undefined : ioCost(text, kindOf);
  };
}

/** undefined: not a disk, or made of other devices (device mapper, md), which have the same I/O. */
function readKind(directory: string): DeviceKind | undefined {
  return attempt(() => {
    if (WITHOUT_DISK.test(basename(readlinkSync(fsPath(directory)))) || readdirSync(fsPath(`${directory}/slaves`)).length > 0)
      return undefined;
    return readFileSync(fsPath(`${directory}/queue/rotational`), 'latin1').trim() === '1' ? 'hdd' : 'ssd';
  });
}
