import { setTimeout } from 'node:timers/promises';
import { UnavailableError } from '../../errors.js';
import { askEvictd, type askRunning } from '../../node/control-client.js';

const LOOK_MS = 500;
/** An evictd that was killed may take as many looks to start again. */
const AWAY_LOOKS = 120;

/**
 * Asks again for a minute while no evictd answers: what it has begun goes on when it is started again.
 *
 * @param code  of the error
 * @throws UnavailableError  none has answered
 */
export const askAcrossRestarts: typeof askRunning = async (config, request, code) => {
  for (let looks = 1; ; looks++) {
    const answer = await askEvictd(config, request).catch(() => undefined);
    if (answer !== undefined) return answer;
    if (looks === AWAY_LOOKS)
      throw new UnavailableError(code, 'evictd has ended', { hint: 'what it has begun goes on when it is started again' });
    await setTimeout(LOOK_MS);
  }
};
