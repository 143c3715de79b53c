import { readFileSync } from 'node:fs';

/** What tells this boot from every other, the same in all containers of the machine (proc(5)). '': it cannot be read. */
export function readBootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return '';
  }
}
