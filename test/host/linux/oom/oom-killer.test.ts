import { readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { oomOrder, oomScoreOf } from '../../../../src/core/oom/oom-badness.js';
import { UnavailableError } from '../../../../src/errors.js';
import { readOomKiller } from '../../../../src/host/linux/oom/oom-killer.js';

describe('the OOM order of this machine', () => {
  /** Those whose score is not what the formula gives; ±1: their value may stand on an edge. */
  function wrong(): number[] {
    const reading = readOomKiller(undefined);
    const pages = reading.machineBytes / reading.pageSize;
    return oomOrder(reading).candidates.flatMap(({ pointsBytes, task }) => {
      const difference = Number(oomScoreOf(pointsBytes / reading.pageSize, pages)) - (task.oomScore ?? 0);
      return Math.abs(difference) > 1 ? task.pid : [];
    });
  }

  test('has the score that the kernel states for every process', () => {
    // One that grows between two of its files is wrong once, not three times.
    const readings = [wrong(), wrong(), wrong()];
    expect(readings[0]?.filter((pid) => readings.every((pids) => pids.includes(pid)))).toEqual([]);
  });

  test('includes every process', () => {
    const listed = () => new Set(readdirSync('/proc').map(Number).filter(Number.isInteger));
    const before = listed();
    const seen = new Set(readOomKiller(undefined).tasks.map(({ pid }) => pid));
    const after = listed();
    expect(before).toContain(process.ppid);
    expect([...before].filter((pid) => after.has(pid) && pid !== process.pid && !seen.has(pid))).toEqual([]);
  });

  test('does not include evictd itself', () => {
    expect(readOomKiller(undefined).tasks.map(({ pid }) => pid)).not.toContain(process.pid);
  });

  test('does not exist for a memcg that does not exist', () => {
    expect(() => readOomKiller('/evictd-test-nowhere')).toThrow(UnavailableError);
    expect(() => readOomKiller('/evictd-test-nowhere')).toThrow(/evictd-test-nowhere does not exist/);
  });
});
