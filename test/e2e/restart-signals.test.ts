import { describe, test } from 'vitest';
import type { Moment } from './mortal.js';
import { ON } from './node.js';
import { hardAndKilled, softAndKilled } from './restarting.js';

// Moments of writing, which are the same on every machine: killed-while-writing.test.ts.

describe(`SIGKILL of evictd around the signals of a hard eviction, and a restart (${ON})`, () => {
  test.each<[when: Moment['when'], at: Moment['at'], results: string[]]>([
    ['after', 'ring:decision', ['abandoned', 'killed']],
    ['after', 'state:decided', ['killed']],
    ['before', 'KILL', ['killed']],
    // The signal was sent but not recorded: all that is known is that batch is gone.
    ['after', 'KILL', ['abandoned']],
    ['after', 'state:dying', ['killed']],
  ])('evictd is killed %s %s', (when, at, results) => hardAndKilled({ at, when }, results));
});

describe(`SIGKILL of evictd around the signals of a soft eviction, and a restart (${ON})`, () => {
  test.each<[when: Moment['when'], at: Moment['at'], requested: number, results: string[]]>([
    ['before', 'TERM', 1, ['killed']],
    // Whether SIGTERM was sent is unknown: a second one is better than SIGKILL without any.
    ['after', 'TERM', 2, ['killed']],
    ['after', 'state:terminating', 1, ['killed']],
    ['before', 'KILL', 1, ['killed']],
    ['after', 'KILL', 1, ['killed']],
  ])('evictd is killed %s %s', (when, at, requested, results) => softAndKilled({ at, when }, requested, results));
});
