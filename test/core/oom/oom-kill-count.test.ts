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
  ['no counter has changed', { '/s': 3, '/s/a': 3 }, { '/s': 3, '/s/a': 3 }, []],
  ['the leaf has it, not those above', {}, { '/s': 1, '/s/a': 1 }, ['/s/a 1 none']],
  ['only new kills are reported', { '/s': 3, '/s/a': 3 }, { '/s': 5, '/s/a': 5 }, ['/s/a 2 none']],
  ['several leaves', {}, { '/s': 3, '/s/a': 1, '/s/b': 2 }, ['/s/a 1 none', '/s/b 2 none']],
  ['a removed leaf: its parent has counted it', { '/s': 2, '/s/a': 2 }, { '/s': 4 }, ['/s 2 unknown']],
  ['the only child, which had a limit, has gone: its parent still does not count as a leaf', { '/s': 0 }, { '/s': 1 }, ['/s 1 unknown']],
  ['a removed cgroup beside an existing one', {}, { '/s': 3, '/s/a': 1 }, ['/s 2 unknown', '/s/a 1 none']],
  ['a new cgroup of the same name counts from 0', { '/s': 2, '/s/a': 2 }, { '/s': 3, '/s/a#2': 1 }, ['/s/a 1 none']],
  ['the cgroup has hit its own limit', {}, { '/s': [1, 0], '/s/a': [1, 1] }, ['/s/a 1 /s/a']],
  ['an ancestor has hit its limit', {}, { '/s': [1, 1], '/s/a': [1, 0] }, ['/s/a 1 /s']],
  ['the nearest of two ancestors with a limit is named', {}, { '/': [1, 1], '/s': [1, 1], '/s/a': [1, 0] }, ['/s/a 1 /s']],
  ['a limit that was reached before says nothing', { '/s': [1, 1], '/s/a': [1, 0] }, { '/s': [2, 1], '/s/a': [2, 0] }, ['/s/a 1 none']],
  ['the limit of a sibling is not named', {}, { '/s': [2, 0], '/s/a': [1, 1], '/s/b': [1, 0] }, ['/s/a 1 /s/a', '/s/b 1 none']],
])('kills on cgroup v2: %s', (_rule, before, now, kills) => {
  expect(killsBetween(tally(before), tally(now)).map(said).sort()).toEqual(kills);
});

test.each<[rule: string, before: Counters, now: Counters, kills: string[]]>([
  ['each cgroup counts its own kills', {}, { '/s': 1, '/s/a': 2 }, ['/s 1 unknown', '/s/a 2 unknown']],
  ['only new kills are reported', { '/s/a': 2 }, { '/s/a': 3 }, ['/s/a 1 unknown']],
  ['a removed cgroup has no counter any more', { '/s/a': 2 }, {}, []],
  ['a new cgroup of the same name counts from 0', { '/s/a': 2 }, { '/s/a#2': 1 }, ['/s/a 1 unknown']],
])('kills on cgroup v1: %s', (_rule, before, now, kills) => {
  expect(killsBetween(tally(before, false), tally(now, false)).map(said).sort()).toEqual(kills);
});
