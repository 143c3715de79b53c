import { errnoText } from '../errors.js';
import type { Log } from '../log.js';
import { selectHost } from '../host/select.js';
import { native } from '../native/index.js';

const MIB = 1024 * 1024;

/** Keeps evictd's machine code in memory, where the system lets it: under pressure the kernel drops it first, and each function then has to be read from a disk that is busy. */
export function lockText(log: Log): void {
  const locked = selectHost().lockText?.(native);
  if (locked === undefined) return;
  const { bytes, errno } = locked;
  const size = `${String(Math.round(bytes / MIB))} MiB`;
  if (errno === 0) {
    log.debug(`machine code is kept in memory (up to ${size})`);
    return;
  }
  log.warn(
    `machine code is kept in memory in part (${size}), the rest was refused: ${errnoText(errno)}; under pressure it may have to be read from disk ` +
      '(grant CAP_IPC_LOCK, or LimitMEMLOCK=infinity)',
    { code: 'EVICTD_TEXT_UNLOCKED' },
  );
}
