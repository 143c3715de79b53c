import { readFileSync } from 'node:fs';

const CAP_KILL = 5n;

/** Whether processes of other users may be signalled: CAP_KILL in CapEff of /proc/PID/status. */
export function mayEndOthers(procStatus: string): boolean {
  const [, effective] = /^CapEff:\s*([0-9a-f]+)$/m.exec(procStatus) ?? [];
  return effective !== undefined && ((BigInt(`0x${effective}`) >> CAP_KILL) & 1n) === 1n;
}

export function readMayEndOthers(): boolean {
  return mayEndOthers(readFileSync('/proc/self/status', 'latin1'));
}
