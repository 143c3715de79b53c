import { errnoText } from '../errors.js';
import { selectHost } from '../host/select.js';
import { native } from '../native/index.js';
import type { Locked } from './phases/lock.js';

const MIB = 1024 * 1024;

/**
 * Gives back the memory that only the start has used, and locks evictd's machine code in memory: under pressure the
 * kernel drops it first, and reads it again from a busy disk. What is used from now on is locked.
 */
export function releaseStartMemory({ options, log }: Pick<Locked, 'options' | 'log'>): void {
  options.collectAll();
  if (options.dryRun) return;
  const locked = selectHost().lockText?.(native);
  if (locked === undefined) return;
  const { bytes, errno } = locked;
  const size = `${String(Math.round(bytes / MIB))} MiB`;
  if (errno === 0) {
    log.debug(`machine code is locked in memory (up to ${size})`);
    return;
  }
  log.warn(
    `machine code is locked in memory only in part (${size}): ${errnoText(errno)}; under pressure the rest may have to be read from disk ` +
      '(grant CAP_IPC_LOCK, or set LimitMEMLOCK=infinity)',
    { code: 'EVICTD_TEXT_UNLOCKED' },
  );
}
