import { readFileSync } from 'node:fs';

/** Identifies this boot, alike in all containers of the machine (proc(5)). '': unreadable. */
export function readBootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return '';
  }
}
