import { mkdirSync, rmdirSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { parseCondition } from '../../../src/core/condition/parse-condition.js';
import type { ConfiguredPolicy } from '../../../src/core/policy/configured-policy.js';
import type { RawValue } from '../../../src/core/policy/raw-value.js';
import type { ScopeReading } from '../../../src/core/policy/scope-reading.js';
import { PolicyReader } from '../../../src/features/policy/policy-reader.js';
import type { Hierarchies } from '../../../src/host/linux/cgroup/hierarchies.js';
import { native } from '../../../src/native/index.js';
import { testCgroup, type TestCgroup } from '../../support/cgroup.js';
import { makeWide } from '../../support/many-cgroups.js';
import { eventually } from '../../support/eventually.js';
import { hierarchies, isV2 } from './ladder.js';

const SECOND = 1_000_000_000n;

function policy(name: string, when: string, cgroup?: string): ConfiguredPolicy {
  const parsed = parseCondition(when, { scope: cgroup === undefined ? 'node' : 'cgroup', pressureWindowNs: 10n * SECOND });
  if ('problems' in parsed) throw new Error(`${when}: ${JSON.stringify(parsed.problems)}`);
  const then = [{ kind: 'notify' }] as const;
  return { name, when: parsed.condition, forNs: 0n, cooldownNs: 0n, then, ...(cgroup !== undefined && { scope: { cgroup } }) };
}

const unitSince = () => undefined;

let root: TestCgroup;
/** Of the clock that paces new listings. */
let nextSecond: () => void;
beforeEach(() => {
  root = testCgroup();
  let nowNs = process.hrtime.bigint();
  vi.spyOn(process.hrtime, 'bigint').mockImplementation(() => nowNs);
  nextSecond = () => (nowNs += SECOND);
});
afterEach(async () => {
  vi.restoreAllMocks();
  await root.cleanup();
});

function reader(
  policies: readonly ConfiguredPolicy[],
  parts: { node?: string; requestOf?: (path: string) => bigint | undefined; hierarchies?: Hierarchies } = {},
): PolicyReader {
  const { node, requestOf = () => undefined, hierarchies: mounted = hierarchies } = parts;
  const opened = new PolicyReader({ native, hierarchies: mounted, node, requestOf, unitSince }, policies);
  onTestFinished(() => {
    opened.close();
  });
  return opened;
}

const pathsOf = (readings: readonly ScopeReading[] = []): string[] => readings.map(({ path }) => path.slice(root.path.length));
/** Empty: there is no reading. */
const values = (reading: ScopeReading | undefined): Partial<Record<RawValue, number>> => Object.fromEntries(reading?.values ?? []);

describe('the cgroups of a scope', () => {
  test('match the pattern at any depth, and are found when they are created and deleted', () => {
    const [a, b] = [root.child('a'), root.child('b')];
    const inner = a.child('app');
    const read = reader([
      policy('deep', 'memory.current > 1Mi', `${root.path}/**/app`),
      policy('flat', 'memory.current > 1Mi', `${root.path}/*`),
    ]);
    const found = (): unknown => {
      const { scopes } = read.read();
      return { deep: pathsOf(scopes.get('deep')), flat: pathsOf(scopes.get('flat')) };
    };
    expect(found()).toEqual({ deep: ['/a/app'], flat: ['/a', '/b'] });
    const late = b.child('x').child('app');
    nextSecond();
    expect(found()).toEqual({ deep: ['/a/app', '/b/x/app'], flat: ['/a', '/b'] });
    rmdirSync(inner.dir);
    rmdirSync(late.dir);
    nextSecond();
    const c = root.child('c');
    expect(found()).toEqual({ deep: [], flat: ['/a', '/b', '/c'] });
    rmdirSync(c.dir);
    nextSecond();
    expect(found()).toEqual({ deep: [], flat: ['/a', '/b'] });
  });

  test('below which there are others are listed at most once a second, and too many in a unit are a problem', () => {
    const slice = testCgroup(`evictdtest${String(process.pid)}.slice`);
    onTestFinished(() => slice.cleanup());
    const read = reader([policy('all', 'memory.current > 1Mi', `${slice.path}/**`)]);
    const found = (): number | undefined => read.read().scopes.get('all')?.length;
    expect([found(), read.problems()]).toEqual([1, []]);
    const service = slice.child('a.service');
    makeWide(service.dir, 600);
    expect(found()).toBe(1);
    nextSecond();
    expect(found()).toBe(2 + 512);
    expect(read.problems()).toMatchObject([
      { code: 'EVICTD_POLICY_SCOPES_MANY', message: expect.stringContaining(service.path) as string },
    ]);
  });

  test('that were made again under their name are other cgroups', () => {
    const child = root.child('a');
    const read = reader([policy('p', 'memory.current > 1Mi', `${root.path}/*`)]);
    const id = (): bigint | undefined => read.read().scopes.get('p')?.[0]?.id;
    const before = id();
    rmdirSync(child.dir);
    mkdirSync(child.dir);
    id();
    const after = id();
    expect(after).toBeGreaterThan(before ?? 0n);
  });

  test('that match nothing are named as a problem', () => {
    const read = reader([policy('p', 'memory.current > 1Mi', `${root.path}/none`), policy('q', 'memory.current > 1Mi', root.path)]);
    read.read();
    expect(read.problems()).toMatchObject([
      { code: 'EVICTD_POLICY_SCOPE', message: `no cgroup matches the scope ${root.path}/none (policy p), now` },
    ]);
  });
});

describe('a cgroup that a condition names', () => {
  test('is read for every policy, also one about the node, and may be created and deleted', () => {
    const child = root.child('a').child('b');
    const [there, late] = [`${root.path}/a/b`, `${root.path}/late`];
    const read = reader([
      policy('node', `cgroup(${there}).memory.anon < 1Mi & !cgroup(${late}) exists`),
      policy('scope', `cgroup(${there}).memory.current < 1Mi & memory.max exists`, `${root.path}/a/*`),
    ]);
    const found = (): unknown => {
      const { named, scopes, node } = read.read();
      return { node, named: named && pathsOf(named), scopes: [...scopes].map(([name, each]) => [name, pathsOf(each)]) };
    };
    expect(found()).toEqual({ named: ['/a/b'], scopes: [['scope', ['/a/b']]] });
    expect(Object.keys(values(read.read().named?.[0])).sort()).toEqual(['memory.anon', 'memory.current']);
    expect(read.problems()).toMatchObject([
      { code: 'EVICTD_POLICY_SCOPE', message: `a condition names the cgroup ${late}, which does not exist (policy node), now` },
    ]);
    const made = reader([{ ...policy('made', `cgroup(${late}).memory.anon < 1Mi`), within: [late] }]);
    made.read();
    expect(made.problems()).toEqual([]); // evictd has made it, and does so again at the next tick
    root.child('late');
    expect(found()).toMatchObject({ named: ['/a/b', '/late'] });
    expect(read.problems()).toEqual([]);
    rmdirSync(child.dir);
    read.read(); // it was listed, and could not be read: whether it exists is not known in this pass
    expect(found()).toEqual({ named: ['/late'], scopes: [['scope', []]] });
  });

  test('is not read if no condition names one', () => {
    expect(reader([policy('p', 'memory.current > 1Mi', root.path)]).read()).not.toHaveProperty('named');
  });

  test('has no values without a memory controller', () => {
    const none = new PolicyReader(
      { native, hierarchies: {} as typeof hierarchies, node: undefined, requestOf: () => undefined, unitSince },
      [policy('p', '!cgroup(/a) exists')],
    );
    expect(none.read().named).toBeUndefined();
    none.close();
  });
});

describe('the values of a cgroup', () => {
  test('are those that the conditions need, and no others', async () => {
    const child = root.child('a');
    await child.spawn('/bin/sh', ['-c', 'head -c 16m /dev/zero | tail -c 16m | sleep 600']);
    const when = 'memory.current > 1Mi & memory.anon > 1Mi & processes > 1 & age > 1s';
    const read = reader([policy('p', when, `${root.path}/a`)]);
    const reading = (): ScopeReading | undefined => read.read().scopes.get('p')?.[0];
    await eventually('the memory is held', () => (reading()?.values.get('memory.anon') ?? 0) >= 16 * 1024 * 1024);
    const found = values(reading());
    expect(Object.keys(found).sort()).toEqual(['age', 'memory.anon', 'memory.current', ...(hasPids(child) ? ['processes'] : [])]);
    expect(found['memory.current']).toBeGreaterThanOrEqual(16 * 1024 * 1024);
    expect(found.age).toBeGreaterThan(0);
    expect(found.age).toBeLessThan(600);
  });

  test('include memory nodes only where a condition needs them, read once for all readings', () => {
    for (const name of ['a', 'b']) root.child(name);
    // Only memory nodes need the hierarchy of cpusets.
    const opensOf = (when: string): number => {
      const cpuset = vi.fn(() => hierarchies.cpuset);
      const read = reader([policy('p', when, `${root.path}/*`)], {
        hierarchies: Object.defineProperty({ ...hierarchies }, 'cpuset', { get: cpuset }),
      });
      for (const again of [1, 2]) expect(read.read().scopes.get('p'), String(again)).toHaveLength(2);
      return cpuset.mock.calls.length;
    };
    expect([opensOf('memory.current > 1Mi'), opensOf('memory.boundNodes.available < 10%')]).toEqual([0, 1]);
  });

  test('have no limit that is not set, and a policy about another cgroup adds none', () => {
    root.child('a');
    const read = reader([
      policy('limits', 'memory.max > 1Mi | memory.anon > 1Mi', `${root.path}/a`),
      policy('other', 'memory.events.max > 0 over 10s', root.path),
    ]);
    const { scopes } = read.read();
    const namesOf = (name: string): string[] => Object.keys(values(scopes.get(name)?.[0])).sort();
    expect(namesOf('limits')).toEqual(['memory.anon', 'memory.current']);
    expect(namesOf('other')).toEqual(['memory.current', 'memory.events.max']);
  });

  test('of a deleted cgroup are not those of the next one', () => {
    const child = root.child('a');
    const read = reader([policy('many', 'memory.anon > 1Mi', `${root.path}/a`), policy('few', 'memory.current > 1Mi', `${root.path}/b`)]);
    expect(values(read.read().scopes.get('many')?.[0])['memory.anon']).toBeDefined();
    rmdirSync(child.dir);
    read.read();
    root.child('b');
    expect(Object.keys(values(read.read().scopes.get('few')?.[0]))).toEqual(['memory.current']);
  });

  test('include a limit that is set', () => {
    root.child('a').limit(64n * 1024n * 1024n);
    const read = reader([policy('p', 'memory.max > 1Mi', `${root.path}/a`)]);
    expect(read.read().scopes.get('p')?.[0]?.values.get('memory.max')).toBe(64 * 1024 * 1024);
  });

  test('have the request of a rule, or else the memory protection of the kernel', () => {
    for (const name of ['a', 'b']) root.child(name);
    if (isV2) root.child('c').write('memory.low', '8388608');
    const requestOf = (path: string): bigint | undefined => (path.endsWith('/a') ? 5n : undefined);
    const read = reader([policy('p', 'memory.current > 100% of memory.request', `${root.path}/*`)], { requestOf });
    const requests = read
      .read()
      .scopes.get('p')
      ?.map((reading) => reading.values.get('memory.request'));
    expect(requests).toEqual([5, undefined, ...(isV2 ? [8_388_608] : [])]);
  });
});

describe('the values of the node', () => {
  const when = 'memory.pressure.some.avg10 > 1% & pgscan > 1/s over 10s & memory.anon > 1Mi & memory.kernelAvailable < 10%';

  test('of a whole machine are pressure, reclaim and amounts, also where no threshold needs them', () => {
    const { node } = reader([policy('p', when)]).read();
    const found = values(node);
    expect(Object.keys(found)).toEqual(
      expect.arrayContaining([
        'memory.pressure.some.avg10',
        'pgscan',
        'memory.anon',
        'memory.kernelAvailable',
        'memory.kernelAvailable.capacity',
      ]),
    );
    expect(found['memory.anon']).toBeGreaterThan(1024 * 1024);
  });

  test('in a cgroup are those of the cgroup, and from the machine only those that thresholds use', () => {
    root.child('a');
    const { node } = reader([policy('p', when)], { node: root.path }).read();
    const found = values(node);
    expect(found['memory.anon']).toBeLessThan(1024 * 1024);
    expect(found.pgscan).toBe(isV2 ? 0 : undefined);
    expect(found['memory.pressure.some.avg10']).toBeDefined();
  });

  test('are not read where no policy needs them', () => {
    const read = reader([policy('p', 'memory.current > 1Mi', root.path)]).read();
    expect(read.node).toBeUndefined();
  });
});

function hasPids(cgroup: TestCgroup): boolean {
  try {
    cgroup.read('pids.current');
    return true;
  } catch {
    return false; // v1: in another hierarchy
  }
}
