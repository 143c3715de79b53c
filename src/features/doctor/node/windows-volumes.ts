import { amountOfBytes } from '../../../core/quantity/amount.js';
import { jsonInteger } from '../../../core/quantity/integer.js';
import { broken, degraded, ok, type Check } from '../check.js';
import { defineCheck } from '../check-kind.js';
import type { VolumeFacts } from '../facts/windows-facts.js';

const ID = 'filesystem.ROLE';

/** For a day of evictions and the ring. */
const ROOM_BYTES = 16n << 20n;

/** The volumes that evictd watches or writes to. */
export function checkVolumes(volumes: readonly VolumeFacts[]): Check[] {
  return volumes.map(({ role, path, answer, refused }) => {
    const id = ID.replace('ROLE', role);
    if (answer === undefined)
      return broken(id, `${path}: its volume did not answer in time`, 'check the disk or server behind it', { path, answered: false });
    if ('error' in answer)
      return broken(id, `${path}: ${answer.error}`, `check ${path}, or configure another path`, { path, error: answer.error });
    const { at, totalBytes, availableBytes } = answer;
    const isOwn = role === 'state' || role === 'runtime';
    const where = at === path ? path : `${path} (${isOwn ? 'to be created' : 'does not exist,'} below ${at})`;
    const summary = `${where}: ${amountOfBytes(availableBytes)} of ${amountOfBytes(totalBytes)} available`;
    const details = {
      path,
      at,
      availableBytes: jsonInteger(availableBytes),
      totalBytes: jsonInteger(totalBytes),
      refused: refused ?? null,
    };
    if (refused !== undefined) {
      const fix = `run evictd as an administrator, or set ${role}Directory to a writable directory`;
      return (role === 'runtime' ? broken : degraded)(id, `${summary}: not writable (${refused})`, fix, details);
    }
    if (isOwn && availableBytes < ROOM_BYTES)
      return degraded(id, `${summary}: not enough space for the journal`, `free space in ${at}`, details);
    return ok(id, summary, details);
  });
}

export const volumesCheck = defineCheck(ID, ['volumes'], ({ volumes }) => checkVolumes(volumes));
