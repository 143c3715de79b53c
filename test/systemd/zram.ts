import { readFileSync, writeFileSync } from 'node:fs';
import { onTestFinished } from 'vitest';
import { systemd } from '../support/systemd.js';

const DISK = '/sys/block/zram0';

/** Compressed memory is the only swap of the machine until the end of the test. */
export function zramSwap(mib: number): void {
  const others = readFileSync('/proc/swaps', 'utf8')
    .split('\n')
    .slice(1)
    .flatMap((line) => line.split(/\s/).slice(0, 1).filter(Boolean));
  for (const other of others) systemd('swapoff', other);
  onTestFinished(() => {
    for (const other of others) systemd('swapon', other);
  });
  systemd('modprobe', 'zram');
  writeFileSync(`${DISK}/disksize`, `${String(mib)}M`);
  systemd('mkswap', '/dev/zram0');
  systemd('swapon', '/dev/zram0');
  onTestFinished(() => {
    systemd('swapoff', '/dev/zram0');
    writeFileSync(`${DISK}/reset`, '1');
  });
}
