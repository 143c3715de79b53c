import { describe, expect, test } from 'vitest';
import type { CheckStatus } from '../../src/doctor/check.js';
import type { MemoryFacts, OomFacts } from '../../src/doctor/facts/kernel.js';
import type { NodeFacts } from '../../src/doctor/facts/node.js';
import { checkOom } from '../../src/doctor/oom.js';
import { checkOvercommit } from '../../src/doctor/overcommit.js';
import { checkSwap } from '../../src/doctor/swap.js';
import { checkWatermarks } from '../../src/doctor/watermarks.js';
import { expectCheck, GIB, hard, memoryFacts, MIB, nodeFacts } from './support.js';

describe('kernel.oom', () => {
  const usual: OomFacts = { panicOnOom: 0, killAllocatingTask: 0, minTtlMs: 0 };

  test.each<[rule: string, facts: Partial<OomFacts>, status: CheckStatus, said: RegExp]>([
    ['the usual', {}, 'ok', /by oom_score$/],
    ['a kernel without these files', { panicOnOom: undefined, killAllocatingTask: undefined, minTtlMs: undefined }, 'ok', /by oom_score$/],
    ['a panic when the machine runs out', { panicOnOom: 1 }, 'degraded', /^panic_on_oom=1/],
    ['a panic for a cgroup', { panicOnOom: 2 }, 'degraded', /^panic_on_oom=2: a cgroup at its own limit is enough/],
    ['whoever allocates', { killAllocatingTask: 1 }, 'degraded', /oom_score_adj has no say/],
    ['the kernel keeps a working set', { minTtlMs: 1000 }, 'degraded', /min_ttl_ms=1000/],
    ['all that is wrong', { panicOnOom: 1, killAllocatingTask: 1 }, 'degraded', /panic_on_oom=1.*; oom_kill_allocating_task=1/],
  ])('%s', (_rule, facts, status, said) => {
    expectCheck(checkOom({ ...usual, ...facts }), 'kernel.oom', status, said);
  });
});

describe('kernel.overcommit, of 8 GiB with a threshold of 500 MiB', () => {
  test.each<[rule: string, facts: Partial<MemoryFacts>, status: CheckStatus, said: RegExp]>([
    ['heuristic', {}, 'ok', /^vm\.overcommit_memory=0$/],
    ['always', { overcommitMemory: 1 }, 'ok', /=1$/],
    [
      'strict, and malloc fails long before',
      { overcommitMemory: 2 },
      'degraded',
      /CommitLimit 4GiB: allocations fail before memory\.available<500Mi, which takes 7\.51GiB/,
    ],
    ['strict, one byte too little', { overcommitMemory: 2, commitLimitBytes: 8n * GIB - 500n * MIB }, 'degraded', /fail before/],
    ['strict, one byte more', { overcommitMemory: 2, commitLimitBytes: 8n * GIB - 500n * MIB + 1n }, 'ok', /only beyond/],
  ])('%s', (_rule, facts, status, said) => {
    expectCheck(checkOvercommit(memoryFacts(facts), nodeFacts()), 'kernel.overcommit', status, said);
  });
});

test.each<[rule: string, facts: Partial<MemoryFacts>, said: RegExp]>([
  ['none', {}, /^no swap$/],
  ['a disk', { swapBytes: 2n * GIB, swaps: ['/dev/vda2'] }, /^2GiB on \/dev\/vda2, swappiness 60$/],
  ['zram', { swapBytes: GIB, swaps: ['/dev/zram0'] }, /stays in memory, compressed$/],
])('kernel.swap: %s', (_rule, facts, said) => {
  expectCheck(checkSwap(memoryFacts(facts)), 'kernel.swap', 'ok', said);
});

describe('kernel.watermarks: min 64, low 80, high 96 MiB', () => {
  const swap = { swapBytes: GIB, swaps: ['/dev/vda2'] };

  test.each<[rule: string, threshold: string, facts: Partial<MemoryFacts>, status: CheckStatus, said: RegExp]>([
    ['far above', 'memory.available<500Mi', {}, 'ok', /is 436MiB above the kernel's reserve: 304 ms/],
    ['exactly the reserve is never met', 'memory.available<64Mi', {}, 'broken', /is never met: the kernel keeps 64MiB/],
    ['19 ms above it', 'memory.available<92Mi', {}, 'degraded', /: 19 ms at 1\.5 GB\/s, too short/],
    ['20 ms above it', 'memory.available<93Mi', {}, 'ok', /: 20 ms/],
    [
      'below what kswapd keeps free by swapping',
      'memory.available<96Mi',
      swap,
      'degraded',
      /only when swap is full: .*96MiB free \(high\)/,
    ],
    ['above that', 'memory.available<97Mi', swap, 'ok', /: 23 ms/],
    ['swap is watched, too', 'memory.available<96Mi,swap.available<10%', swap, 'ok', /: 22 ms/],
    ['a percentage is told with its amount', 'memory.available<10%', {}, 'ok', /^memory\.available<10% \(819MiB\)/],
  ])('%s', (_rule, threshold, facts, status, said) => {
    const checks = checkWatermarks(memoryFacts(facts), nodeFacts({ thresholds: hard(threshold) }));
    expectCheck(checks[0], 'kernel.watermarks', status, said);
  });

  test.each<[rule: string, memory: Partial<MemoryFacts>, node: Partial<NodeFacts>]>([
    ['a cgroup has its own limit', {}, { isMachine: false }],
    ['no hard threshold of memory', {}, { thresholds: hard('nodefs.available<10%') }],
    ['zones that cannot be read', { watermarks: undefined }, {}],
  ])('nothing is said: %s', (_rule, memory, node) => {
    expect(checkWatermarks(memoryFacts(memory), nodeFacts(node))).toEqual([]);
  });
});
