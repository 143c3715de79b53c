import { constants } from 'node:os';
import { expect, test } from 'vitest';
import { WatchSlot } from '../../../../src/host/linux/sampling/watch-slot.js';
import type { OnWake } from '../../../../src/native/binding.js';

const { EACCES, EIO, EMFILE, ENODEV, ENOENT } = constants.errno;
const GONE = 2;

// A disk that fails and a limit that is reached while a watch is live cannot be had here: the watch is played.
test.each<[rule: string, errno: number, reason: string, hint: string | undefined]>([
  ['without an error the file was removed', 0, 'the watched file was removed', undefined],
  ['a removed cgroup', ENODEV, 'the watched file was removed', undefined],
  ['a removed file', ENOENT, 'the watched file was removed', undefined],
  [
    'the file may not be read any more',
    EACCES,
    '/a: EACCES (permission denied)',
    'run evictd as root, or give it write access to this file',
  ],
  ['no descriptor is free', EMFILE, '/a: EMFILE (too many open files)', 'raise the limit of open files (LimitNOFILE)'],
  ['a device that fails', EIO, '/a: EIO (i/o error)', undefined],
])('the reason why a watch has ended: %s', (_rule, errno, reason, hint) => {
  const played = { live: true, status: () => ({ mechanism: 'sampler', target: '/a', live: played.live, errno }), close: () => undefined };
  const slot = new WatchSlot('sampler', GONE, () => undefined);
  let wake: OnWake = () => undefined;
  const refused = (): never => expect.fail('refused');
  slot.open('', (onWake) => ((wake = onWake), played), refused);
  expect(slot.failure).toBeUndefined();
  played.live = false;
  wake(GONE, 0n, 0);
  expect(slot.state('x', true)).toMatchObject({ live: false, reason, hint });
});
