import { rmSync, rmdirSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { FileSpec } from '../../src/native/index.js';
import { native } from '../../src/native/index.js';
import { closing, hasMemoryV1, makeCgroup, makeNumberFile, memoryV1, pause, startHog, thrownBy, until } from './kernel.js';

const number = (path: string): FileSpec => ({ path, format: 'number' });

function sample(files: readonly FileSpec[], weights: readonly number[], limits: readonly number[], intervalMs = 5) {
  const wakes: { bits: number; atNs: bigint }[] = [];
  const owner = new native.Sampler({ files, weights, intervalMs, limits }, (bits, atNs) => wakes.push({ bits, atNs }));
  return { owner: closing(owner), wakes };
}

/** Long enough that several samples have been taken. */
const samples = () => pause(60);

describe('the sampler', () => {
  test('beyond a limit at the first sample is a crossing: it may have happened since it was armed', async () => {
    const file = makeNumberFile(150);
    const { wakes, owner } = sample([number(file.path)], [1], [100, 200]);
    await samples();
    expect(wakes).toHaveLength(1);
    owner.setLimits([200]);
    file.show(250); // before the next sample
    await samples();
    expect(wakes).toHaveLength(2);
  });

  test('each crossing of a limit wakes, in both directions', async () => {
    const file = makeNumberFile(99);
    const { wakes } = sample([number(file.path)], [1], [100, 200]);
    await pause(60);
    expect(wakes).toHaveLength(0);
    file.show(150);
    await samples();
    expect(wakes.splice(0)).toHaveLength(1);
    const before = process.hrtime.bigint();
    file.show(199);
    await samples();
    expect(wakes).toHaveLength(0);
    file.show(200);
    await samples();
    expect(wakes).toHaveLength(1); // at the limit is at or above it
    file.show(199);
    await samples();
    expect(wakes).toHaveLength(2);
    file.show(99);
    await samples();
    expect(wakes).toHaveLength(3);
    file.show(100);
    await samples();
    expect(wakes).toHaveLength(4);
    expect(wakes.every(({ bits, atNs }) => bits === native.WAKE.FIRED && atNs > before && atNs < process.hrtime.bigint())).toBe(true);
  });

  test('the value is the weighted sum of the fields, in order', async () => {
    const [usage, inactive] = [makeNumberFile(1000), makeNumberFile(300)];
    const { wakes } = sample([number(usage.path), number(inactive.path)], [1, -1], [750]);
    usage.show(1049); // 749
    await samples();
    expect(wakes).toHaveLength(0);
    inactive.show(299);
    await until('750', () => wakes.length === 1);
  });

  test('new limits replace the old ones', async () => {
    const file = makeNumberFile(150);
    const { wakes, owner } = sample([number(file.path)], [1], [160]);
    await pause(30);
    owner.setLimits([200, 170]);
    file.show(165);
    await samples();
    expect(wakes).toHaveLength(0);
    file.show(175);
    await samples(); // 160 is no limit any more, 170 is one
    expect(wakes).toHaveLength(1);
  });

  test('without limits it never wakes', async () => {
    const file = makeNumberFile(1);
    const { wakes, owner } = sample([number(file.path)], [1], []);
    file.show(1e15);
    await samples();
    expect([wakes.length, owner.live]).toEqual([0, true]);
  });

  test.runIf(hasMemoryV1)('sees a real process grow and end', async () => {
    const cgroup = makeCgroup(memoryV1);
    const hog = await startHog(cgroup);
    const reader = closing(new native.FileReader([number(`${cgroup}/memory.usage_in_bytes`)]));
    reader.read();
    const { wakes } = sample([number(`${cgroup}/memory.usage_in_bytes`)], [1], [(reader.values[0] ?? 0) + (32 << 20)]);
    await pause(50);
    await hog.take(64);
    await until('the way up', () => wakes.length === 1);
    hog.end();
    await until('the way down', () => wakes.length === 2);
  });

  test.runIf(hasMemoryV1)('of a removed cgroup is GONE, once', async () => {
    const cgroup = makeCgroup(memoryV1);
    const { wakes, owner } = sample([number(`${cgroup}/memory.usage_in_bytes`)], [1], [1 << 30]);
    rmdirSync(cgroup);
    await until('GONE', () => wakes.length > 0);
    await pause(100);
    expect(wakes.map(({ bits }) => bits)).toEqual([native.WAKE.GONE]);
    expect(owner.live).toBe(false);
    expect(() => owner.setLimits([1])).not.toThrow();
  });

  test('text that is no number any more is GONE', async () => {
    const file = makeNumberFile(1);
    const { wakes } = sample([number(file.path)], [1], [10]);
    writeFileSync(file.path, 'garbage\n');
    await samples();
    expect(wakes.map(({ bits }) => bits)).toEqual([native.WAKE.GONE]);
  });

  test('a file whose name was removed is still read: it is open', async () => {
    const file = makeNumberFile(1);
    const { owner } = sample([number(file.path)], [1], [10]);
    rmSync(file.path);
    await pause(60);
    expect(owner.live).toBe(true);
  });

  test.each<[rule: string, weights: number[], intervalMs: number, code: string]>([
    ['a weight too many', [1, 1], 5, 'ERR_OUT_OF_RANGE'],
    ['no weight', [], 5, 'ERR_OUT_OF_RANGE'],
    ['an interval below 1 ms', [1], 0.5, 'ERR_OUT_OF_RANGE'],
    ['an interval that is no number', [1], NaN, 'ERR_OUT_OF_RANGE'],
  ])('%s is refused', (_rule, weights, intervalMs, code) => {
    expect(thrownBy(() => sample([number('/proc/loadavg')], weights, [1], intervalMs))).toMatchObject({ code });
  });

  test.each<[rule: string, spec: FileSpec, error: object]>([
    ['a file that is not there', number('/proc/none'), { code: 'ENOENT', syscall: 'open', path: '/proc/none' }],
    ['a key that is not there', { path: '/proc/meminfo', format: 'keyed', keys: ['MemNone'] }, { code: 'ENODATA', path: '/proc/meminfo' }],
    ['a file of another format', number('/proc/meminfo'), { code: 'EBADMSG', syscall: 'read', path: '/proc/meminfo' }],
  ])('%s is an error at the start', (_rule, spec, error) => {
    expect(thrownBy(() => sample([spec], [1], [1]))).toMatchObject(error);
    expect(native.watchCount()).toBe(0);
  });
});
