export type DeviceKind = 'ssd' | 'hdd';

/** A key of io.stat: bytes or operations that were read, written or discarded. */
type Transfer = `${'r' | 'w' | 'd'}${'bytes' | 'ios'}`;

/**
 * The cost of a byte and of an operation. 100 a second are taken as all that a device does: reading 160 MB/s from an SSD, or 388
 * times a second from a hard disk. Source of the numbers: facebookincubator/oomd, docs/io_cost.md (measured on servers of
 * Facebook).
 */
const COEFFICIENTS: Readonly<Record<DeviceKind, Readonly<Record<Transfer, number>>>> = {
  hdd: { rios: 2.58e-1, rbytes: 1.13e-7, wios: 1.31e-3, wbytes: 5.04e-7, dios: 0, dbytes: 0 },
  ssd: { rios: 1.21e-2, rbytes: 6.25e-7, wios: 1.07e-3, wbytes: 2.61e-7, dios: 2.37e-2, dbytes: 9.1e-10 },
};
/** µs that a device was busy, by the kernel's model, for a cost of 1. */
const USAGE_US = 10_000;

/**
 * What the I/O of a cgroup has cost its devices so far, in hundredths of a second of one device: `cost.usage` where the kernel
 * has a cost model of the device (io.cost.qos), else weighed transfers.
 *
 * @param text  io.stat: '254:0 rbytes=4096 wbytes=0 rios=1 wios=0 dbytes=0 dios=0 cost.usage=81'
 * @param kindOf  of a device by its numbers; undefined: without a model its I/O costs nothing
 */
export function ioCost(text: string, kindOf: (device: string) => DeviceKind | undefined): number {
  let cost = 0;
  for (const line of text.split('\n')) {
    const [device = '', ...fields] = line.split(' ');
    const values = new Map(fields.map((field) => field.split('=')).map(([key = '', value]) => [key, Number(value)]));
    const usageUs = values.get('cost.usage');
    const kind = usageUs === undefined ? kindOf(device) : undefined;
    if (usageUs !== undefined) cost += usageUs / USAGE_US;
    if (kind === undefined) continue;
    for (const [key, weight] of Object.entries(COEFFICIENTS[kind])) cost += weight * (values.get(key) ?? 0);
  }
  return cost;
}

/** The transfers of a cgroup of v1 as io.stat has them: '8:0 Read 4096' in bytes, and '8:0 Read 1' in operations. */
export function asIoStat(bytes: string, operations: string): string {
  const part = (text: string, what: 'bytes' | 'ios'): string =>
    [...text.matchAll(/^(\d+:\d+) (Read|Write|Discard) (\d+)$/gm)]
      .map(([, device = '', kind = '', count = '']) => `${device} ${kind.slice(0, 1).toLowerCase()}${what}=${count}`)
      .join('\n');
  return `${part(bytes, 'bytes')}\n${part(operations, 'ios')}`;
}
