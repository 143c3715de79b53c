import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openIoCost } from '../../../../src/host/linux/disk/io-cost.js';
import { temporaryDirectory } from '../../../support/temporary-directory.js';

/** Devices of sysfs, and a cgroup /a of v2 with the same I/O on each. */
function costOn(name: string, rotational: '0' | '1', slaves: readonly string[] = []): number | undefined {
  const root = temporaryDirectory();
  const device = join(root, 'devices', name);
  mkdirSync(join(device, 'queue'), { recursive: true });
  mkdirSync(join(device, 'slaves'));
  for (const slave of slaves) mkdirSync(join(device, 'slaves', slave));
  writeFileSync(join(device, 'queue/rotational'), `${rotational}\n`);
  mkdirSync(join(root, 'block'));
  symlinkSync(device, join(root, 'block/7:1'));
  mkdirSync(join(root, 'cgroup/a'), { recursive: true });
  writeFileSync(join(root, 'cgroup/a/io.stat'), '7:1 rbytes=0 wbytes=0 rios=1000 wios=0 dbytes=0 dios=0\n');
  const memory = { version: 2, controller: '', mountPoint: join(root, 'cgroup'), root: '/' } as const;
  const read = openIoCost({ memory, blkio: undefined }, join(root, 'block'));
  expect(read('/gone')).toBeUndefined();
  return read('/a');
}

test.each<[what: string, of: Parameters<typeof costOn>, cost: number]>([
  ['a hard disk', ['sda', '1'], 258],
  ['an SSD', ['nvme0n1', '0'], 12.1],
  ['a device made of others, which have the same I/O', ['dm-0', '0', ['sda']], 0],
  ['swap in memory', ['zram0', '0'], 0],
  ['a file', ['loop0', '0'], 0],
])('%s', (_what, of, cost) => {
  expect(costOn(...of)).toBeCloseTo(cost, 9);
});

test('without a hierarchy that counts I/O the cost is unknown', () => {
  expect(openIoCost({ memory: undefined, blkio: undefined })('/')).toBeUndefined();
});
