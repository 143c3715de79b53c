import { amountOfBytes } from '../core/amount.js';
import { jsonInteger } from '../core/integer.js';
import { broken, degraded, ok, type Check } from './check.js';
import type { VolumeFacts } from './facts/windows.js';

const ID = 'filesystem.ROLE';

/** Enough for a day of evictions, and for the ring of decisions. */
const ROOM_BYTES = 16n << 20n;

/** The volumes that evictd watches, and those that it writes to. */
export function checkVolumes(volumes: readonly VolumeFacts[]): Check[] {
  return volumes.map(({ role, path, answer, refused }) => {
    const id = ID.replace('ROLE', role);
    if (answer === undefined)
      return broken(id, `${path}: its volume has not answered in time`, 'look at what serves it', { path, answered: false });
    if ('error' in answer) return broken(id, `${path}: ${answer.error}`, `look at ${path}, or name another`, { path, error: answer.error });
    const { at, totalBytes, availableBytes } = answer;
    const isOwn = role === 'state' || role === 'runtime';
    const where = at === path ? path : `${path} (${isOwn ? 'to be made' : 'not there,'} below ${at})`;
    const said = `${where}: ${amountOfBytes(availableBytes)} of ${amountOfBytes(totalBytes)} available`;
    const details = {
      path,
      at,
      availableBytes: jsonInteger(availableBytes),
      totalBytes: jsonInteger(totalBytes),
      refused: refused ?? null,
    };
    if (refused !== undefined) {
      const fix = `run evictd as an administrator, or set ${role}Directory to a directory that it may write to`;
      return (role === 'runtime' ? broken : degraded)(id, `${said}: it may not be written to (${refused})`, fix, details);
    }
    if (isOwn && availableBytes < ROOM_BYTES) return degraded(id, `${said}: no room for the journal`, `free some of ${at}`, details);
    return ok(id, said, details);
  });
}
