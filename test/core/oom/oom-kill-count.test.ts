import { expect, test } from 'vitest';
import { killsBetween, type CountedKills, type OomTally } from '../../../src/core/oom/oom-kill-count.js';

/**
 * path → kills, or [kills, hits of its own limit]; `id` of a path is its place in the alphabet of the test unless it
 * says otherwise.
 */
type Counters = Readonly<Record<string, number | readonly [kills: number, limitHits: number]>>;

const IDS = new Map<string, bigint>();
function idOf(path: string): bigint {
  if (!IDS.has(path)) IDS.set(path, BigInt(IDS.size + 1));
  return IDS.get(path) ?? 0n;
}

/** Processes live in /s/a and /s/b; on v1 in any. */
function tally(counters: Counters, hierarchical = true): OomTally {
  const cgroups = Object.entries(counters).map(([name, value]) => {
    const path = name.replace(/#.*/, ''); // '/a#2': another cgroup of the same name
    const [kills, hits] = typeof value === 'number' ? [value, 0] : value;
    const ownKills = hierarchical && !/^\/s\/[ab]$/.test(path) ? 0 : kills;
    return [idOf(name), { path, kills, ownKills, limitHits: hierarchical ? hits : undefined }] as const;
  });
  return { total: undefined, hierarchical, cgroups: new Map(cgroups) };
}

const said = ({ cgroup, count, limit }: CountedKills): string =>
  `${cgroup ?? '?'} ${String(count)} ${limit.kind === 'cgroup' ? limit.path : limit.kind}`;

test.each<[rule: string, before: Counters, now: Counters, kills: string[]]>([
  ['nothing has moved', { '/s': 3, '/s/a': 3 }, { '/s': 3, '/s/a': 3 }, []],
  ['the leaf has it, not those above', {}, { '/s': 1, '/s/a': 1 }, ['/s/a 1 none']],
  ['only what is new', { '/s': 3, '/s/a': 3 }, { '/s': 5, '/s/a': 5 }, ['/s/a 2 none']],
  ['several leaves', {}, { '/s': 3, '/s/a': 1, '/s/b': 2 }, ['/s/a 1 none', '/s/b 2 none']],
  ['a removed leaf: its parent has counted it', { '/s': 2, '/s/a': 2 }, { '/s': 4 }, ['/s 2 unknown']],
  ['the only one is gone, which had a limit: the one above is no leaf for that', { '/s': 0 }, { '/s': 1 }, ['/s 1 unknown']],
  ['a removed cgroup beside an existing one', {}, { '/s': 3, '/s/a': 1 }, ['/s 2 unknown', '/s/a 1 none']],
  ['one of the same name is another one', { '/s': 2, '/s/a': 2 }, { '/s': 3, '/s/a#2': 1 }, ['/s/a 1 none']],
  ['its own limit', {}, { '/s': [1, 0], '/s/a': [1, 1] }, ['/s/a 1 /s/a']],
  ['the limit of one above', {}, { '/s': [1, 1], '/s/a': [1, 0] }, ['/s/a 1 /s']],
  ['of two above the nearest', {}, { '/': [1, 1], '/s': [1, 1], '/s/a': [1, 0] }, ['/s/a 1 /s']],
  ['a limit that was reached before says nothing', { '/s': [1, 1], '/s/a': [1, 0] }, { '/s': [2, 1], '/s/a': [2, 0] }, ['/s/a 1 none']],
  ['the limit of another one beside it says nothing', {}, { '/s': [2, 0], '/s/a': [1, 1], '/s/b': [1, 0] }, ['/s/a 1 /s/a', '/s/b 1 none']],
])('v2: %s', (_rule, before, now, kills) => {
  expect(killsBetween(tally(before), tally(now)).map(said).sort()).toEqual(kills);
});

test.each<[rule: string, before: Counters, now: Counters, kills: string[]]>([
  ['each counts for itself', {}, { '/s': 1, '/s/a': 2 }, ['/s 1 unknown', '/s/a 2 unknown']],
  ['only what is new', { '/s/a': 2 }, { '/s/a': 3 }, ['/s/a 1 unknown']],
  ['a removed cgroup has no counter any more', { '/s/a': 2 }, {}, []],
  ['one of the same name is another one', { '/s/a': 2 }, { '/s/a#2': 1 }, ['/s/a 1 unknown']],
])('v1: %s', (_rule, before, now, kills) => {
  expect(killsBetween(tally(before, false), tally(now, false)).map(said).sort()).toEqual(kills);
});
