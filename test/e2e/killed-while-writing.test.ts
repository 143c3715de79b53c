import { describe, test } from 'vitest';
import type { Moment } from './mortal.js';
import { ON } from './node.js';
import { hardAndKilled, softAndKilled } from './restarting.js';

describe(`SIGKILL of evictd during the records of a hard eviction, and a restart (${ON})`, () => {
  test.each<[when: Moment['when'], at: Moment['at'], results: string[]]>([
    ['before', 'ring:decision', ['killed']],
    ['in the middle of', 'ring:decision', ['killed']],
    ['in the middle of', 'state:decided', ['abandoned', 'killed']],
    ['in the middle of', 'state:dying', ['abandoned']],
    ['before', 'ring:outcome', ['killed']],
    ['in the middle of', 'ring:outcome', ['killed']],
    ['after', 'ring:outcome', ['killed']],
    ['in the middle of', 'state:over', ['killed']],
    ['after', 'state:over', ['killed']],
    ['before', 'journal:outcome', ['killed']],
    ['in the middle of', 'journal:outcome', ['killed']],
    ['after', 'journal:outcome', ['killed']],
    ['before', 'ring:drained', ['killed']],
  ])('evictd is killed %s %s', (when, at, results) => hardAndKilled({ at, when }, results));
});

describe(`SIGKILL of evictd during the records of a soft eviction, and a restart (${ON})`, () => {
  test.each<[when: Moment['when'], at: Moment['at'], requested: number, results: string[]]>([
    ['after', 'ring:decision', 1, ['abandoned', 'killed']],
    ['after', 'state:decided', 1, ['killed']],
    ['before', 'ring:escalation', 1, ['killed']],
    ['after', 'ring:escalation', 1, ['killed']],
    ['after', 'state:dying', 1, ['killed']],
    ['before', 'ring:outcome', 1, ['killed']],
  ])('evictd is killed %s %s', (when, at, requested, results) => softAndKilled({ at, when }, requested, results));
});
