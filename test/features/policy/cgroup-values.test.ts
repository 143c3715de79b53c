import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { RawValue } from '../../../src/core/policy/raw-value.js';
import { CgroupValues } from '../../../src/features/policy/cgroup-values.js';
import type { UnitSince } from '../../../src/features/policy/unit-since.js';
import { native } from '../../../src/native/index.js';
import { temporaryDirectory } from '../../support/temporary-directory.js';
import { hierarchies } from './ladder.js';

type Values = Record<string, number>;

/** Values of /a/b in files as of cgroup v2, whatever this machine has. */
function valuesOf(wanted: readonly RawValue[], files: Readonly<Record<string, number>>, ofRule?: bigint, unitSince?: UnitSince): Values {
  return readerOf(wanted, files, ofRule, unitSince)();
}

/** Reads them again at each call. */
function readerOf(
  wanted: readonly RawValue[],
  files: Readonly<Record<string, number>>,
  ofRule?: bigint,
  unitSince: UnitSince = () => undefined,
): () => Values {
  const mountPoint = temporaryDirectory();
  mkdirSync(join(mountPoint, 'a/b'), { recursive: true });
  for (const [file, value] of Object.entries(files)) writeFileSync(join(mountPoint, file), `${String(value)}\n`);
  const memory = { version: 2, controller: '', mountPoint, root: '/' } as const;
  const values = new CgroupValues({ native, hierarchies: { ...hierarchies, memory }, requestOf: () => ofRule, unitSince }, wanted);
  onTestFinished(() => {
    values.close();
  });
  values.follow(new Map([['/a/b', new Set(wanted)]]));
  return () => Object.fromEntries(values.read().get('/a/b')?.values ?? []);
}

test.each<[above: number, spared: number]>([
  [30, 30],
  [0, 0],
])('memory protection is limited by the parent cgroup, which asks for %s', (above, spared) => {
  const files = { 'a/memory.low': above, 'a/memory.current': 100, 'a/b/memory.low': 40, 'a/b/memory.current': 50 };
  expect(valuesOf(['memory.protected'], files)).toMatchObject({ 'memory.current': 50, 'memory.protected': spared });
});

test.each<[rule: string, low: number, ofRule: bigint | undefined, request: number | undefined]>([
  ['memory.low', 40, undefined, 40],
  ['a rule before memory.low', 40, 70n, 70],
  ['no setting: it is missing, so that no share of it is exceeded', 0, undefined, undefined],
  ['a rule with a request of 0: the same', 40, 0n, undefined],
])('the request of a cgroup by %s', (_rule, low, ofRule, request) => {
  const files = { 'a/b/memory.low': low, 'a/b/memory.min': 0, 'a/b/memory.current': 50 };
  expect(valuesOf(['memory.request'], files, ofRule)['memory.request']).toBe(request);
});

test('the age of a unit is the time since systemd started it, and is missing until systemd has answered', () => {
  const files = { 'a/b/memory.current': 50 };
  const ageOf = (since: UnitSince): number | undefined => valuesOf(['age'], files, undefined, since).age;
  const now = process.hrtime.bigint();
  expect(ageOf((path) => (path === '/a/b' ? now - 3_600_000_000_000n : undefined))).toBeGreaterThanOrEqual(3600);
  expect(ageOf(() => 'awaited')).toBeUndefined();
  expect(ageOf(() => undefined)).toBeLessThan(3600); // its directory
});

test('the known start of a unit stays known while systemd is asked about it again', () => {
  const start = process.hrtime.bigint() - 3_600_000_000_000n;
  const answers: ReturnType<UnitSince>[] = ['awaited', start, 'awaited', undefined, start + 3_000_000_000_000n];
  const read = readerOf(['age'], { 'a/b/memory.current': 50 }, undefined, () => answers.shift());
  expect(read().age).toBeUndefined();
  for (let again = 0; again < 3; again += 1) expect(read().age).toBeGreaterThanOrEqual(3600);
  expect(read().age).toBeLessThan(3600); // the unit was restarted in its cgroup
});
