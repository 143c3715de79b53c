import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import type { Binding } from '../../../native/binding.js';
import type { Request, RequestTarget } from '../../requests.js';

const SIGNALS = { reload: 'SIGHUP', resume: 'SIGUSR2' } as const satisfies Readonly<Record<Request, NodeJS.Signals>>;

/**
 * Sends the signal of a request by pidfd, after it is certain that the pid is still evictd and has a handler: the signal
 * would end another process, or an older evictd.
 */
export function askBySignal(native: Pick<Binding, 'Pidfd'>, request: Request, { pid, isCurrent }: RequestTarget): void {
  const number = constants.signals[SIGNALS[request]];
  const pidfd = new native.Pidfd(pid);
  try {
    if (!isCurrent()) return;
    if (!catches(readFileSync(`/proc/${String(pid)}/status`, 'latin1'), number)) {
      throw new Error(`it has no handler for ${SIGNALS[request]}: it is an older version, or is still starting`);
    }
    pidfd.signal(number);
  } finally {
    pidfd.close();
  }
}

/** @param status  of /proc/PID/status, where bit n − 1 of SigCgt is signal n (proc(5)) */
export function catches(status: string, signal: number): boolean {
  const [, mask = '0'] = /^SigCgt:\s*([0-9a-f]+)$/m.exec(status) ?? [];
  return ((BigInt(`0x${mask}`) >> BigInt(signal - 1)) & 1n) === 1n;
}
