import { readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { oomOrder, oomScoreOf } from '../../../../src/core/oom-badness.js';
import { UnavailableError } from '../../../../src/errors.js';
import { readOomKiller } from '../../../../src/host/linux/oom-killer/killer.js';

describe('this machine', () => {
  /** Those whose score is not what the formula gives; ±1: their value may stand on an edge. */
  function wrong(): number[] {
    const reading = readOomKiller(undefined);
    const pages = reading.machineBytes / reading.pageSize;
    return oomOrder(reading).candidates.flatMap(({ pointsBytes, task }) => {
      const difference = Number(oomScoreOf(pointsBytes / reading.pageSize, pages)) - (task.oomScore ?? 0);
      return Math.abs(difference) > 1 ? task.pid : [];
    });
  }

  test('every process has the score that the kernel states', () => {
    // One that grows between two of its files is wrong once, not three times.
    const readings = [wrong(), wrong(), wrong()];
    expect(readings[0]?.filter((pid) => readings.every((pids) => pids.includes(pid)))).toEqual([]);
  });

  test('every process is looked at', () => {
    const { tasks } = readOomKiller(undefined);
    const seen = new Set(tasks.map(({ pid }) => pid));
    expect([1, process.ppid].filter((pid) => !seen.has(pid))).toEqual([]);
    expect(Math.abs(tasks.length - readdirSync('/proc').filter((name) => /^\d+$/.test(name)).length)).toBeLessThan(50);
  });

  test('whoever asks is left out', () => {
    expect(readOomKiller(undefined).tasks.map(({ pid }) => pid)).not.toContain(process.pid);
  });

  test('a memcg that is not there', () => {
    expect(() => readOomKiller('/evictd-test-nowhere')).toThrow(UnavailableError);
    expect(() => readOomKiller('/evictd-test-nowhere')).toThrow(/evictd-test-nowhere does not exist/);
  });
});
