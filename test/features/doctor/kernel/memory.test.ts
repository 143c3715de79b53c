import { describe, expect, test } from 'vitest';
import type { CheckStatus } from '../../../../src/features/doctor/check.js';
import type { MemoryFacts } from '../../../../src/host/facts.js';
import type { NodeFacts } from '../../../../src/features/doctor/machine-facts.js';
import { oomCheck } from '../../../../src/features/doctor/checks/kernel.js';
import { overcommitCheck, swapCheck, watermarksCheck } from '../../../../src/features/doctor/checks/memory.js';
import { expectCheck, GIB, hard, memoryFacts, MIB, nodeFacts } from '../support.js';

describe('kernel.oom', () => {
  const VM = '/proc/sys/vm';
  const usual = {
    [`${VM}/panic_on_oom`]: '0\n',
    [`${VM}/oom_kill_allocating_task`]: '0\n',
    '/sys/kernel/mm/lru_gen/min_ttl_ms': '0\n',
  };

  test.each<[rule: string, files: Readonly<Record<string, string | undefined>>, status: CheckStatus, summary: RegExp]>([
    ['the defaults', usual, 'ok', /by oom_score$/],
    ['a kernel without these files', {}, 'ok', /by oom_score$/],
    ['a panic when the machine runs out', { ...usual, [`${VM}/panic_on_oom`]: '1\n' }, 'degraded', /^panic_on_oom=1/],
    ['a panic for a cgroup', { ...usual, [`${VM}/panic_on_oom`]: '2\n' }, 'degraded', /^panic_on_oom=2: .* only a cgroup/],
    ['the allocating process', { ...usual, [`${VM}/oom_kill_allocating_task`]: '1\n' }, 'degraded', /ignores oom_score_adj/],
    ['a protected working set', { ...usual, '/sys/kernel/mm/lru_gen/min_ttl_ms': '1000\n' }, 'degraded', /min_ttl_ms=1000/],
    [
      'several problems',
      { ...usual, [`${VM}/panic_on_oom`]: '1\n', [`${VM}/oom_kill_allocating_task`]: '1\n' },
      'degraded',
      /panic_on_oom=1.*; oom_kill_allocating_task=1/,
    ],
  ])('%s', (_rule, files, status, summary) => {
    const [check] = [oomCheck.judge({ kernelFile: (path) => files[path] })].flat();
    expectCheck(check, 'kernel.oom', status, summary);
  });
});

describe('kernel.overcommit, of 8 GiB with a threshold of 500 MiB', () => {
  test.each<[rule: string, facts: Partial<MemoryFacts>, status: CheckStatus, summary: RegExp]>([
    ['heuristic', {}, 'ok', /^vm\.overcommit_memory=0$/],
    ['always', { overcommitMemory: 1 }, 'ok', /=1$/],
    [
      'strict, and malloc fails long before',
      { overcommitMemory: 2 },
      'degraded',
      /CommitLimit 4GiB: allocations fail before memory\.available<500Mi is met \(at 7\.51GiB in use\)/,
    ],
    ['strict, one byte too little', { overcommitMemory: 2, commitLimitBytes: 8n * GIB - 500n * MIB }, 'degraded', /fail before/],
    [
      'strict, one byte more',
      { overcommitMemory: 2, commitLimitBytes: 8n * GIB - 500n * MIB + 1n },
      'ok',
      /is met before allocations fail/,
    ],
  ])('%s', (_rule, facts, status, summary) => {
    expectCheck(overcommitCheck.judge({ memory: memoryFacts(facts), node: nodeFacts() })[0], 'kernel.overcommit', status, summary);
  });
});

const ZRAM = { swapBytes: GIB, swaps: ['/dev/zram0'] };
const kernelAvailable = hard('memory.available<500Mi,memory.kernelAvailable<10%');

test.each<[rule: string, facts: Partial<MemoryFacts>, node: Partial<NodeFacts>, status: CheckStatus, summary: RegExp]>([
  ['none', {}, {}, 'ok', /^no swap$/],
  ['a disk', { swapBytes: 2n * GIB, swaps: ['/dev/vda2'] }, {}, 'ok', /^2GiB on \/dev\/vda2, swappiness 60$/],
  ['zram, and MemAvailable, which leaves it out', ZRAM, { estimated: true }, 'ok', /keeps swapped pages in memory, compressed$/],
  ['zram, and the kubelet’s formula', ZRAM, {}, 'degraded', /compressed, and memory.available counts that memory as available$/],
  ['… with a threshold of what the kernel has', ZRAM, { thresholds: kernelAvailable }, 'ok', /compressed$/],
  ['… on a node that is a cgroup', ZRAM, { isMachine: false }, 'ok', /compressed$/],
])('kernel.swap: %s', (_rule, facts, node, status, summary) => {
  expectCheck(swapCheck.judge({ memory: memoryFacts(facts), node: nodeFacts(node) })[0], 'kernel.swap', status, summary);
});

describe('kernel.watermarks: min 64, low 80, high 96 MiB', () => {
  const swap = { swapBytes: GIB, swaps: ['/dev/vda2'] };

  test.each<[rule: string, threshold: string, facts: Partial<MemoryFacts>, status: CheckStatus, summary: RegExp]>([
    ['far above', 'memory.available<500Mi', {}, 'ok', /is 436MiB above the kernel's reserve \(min\): one core allocates that in 304 ms/],
    ['exactly the reserve is never met', 'memory.available<64Mi', {}, 'broken', /is never met: the kernel keeps 64MiB/],
    ['19 ms above it', 'memory.available<92Mi', {}, 'degraded', / in 19 ms \(1\.5 GB\/s\), too short/],
    ['20 ms above it', 'memory.available<93Mi', {}, 'ok', / in 20 ms/],
    [
      'below what kswapd keeps free by swapping',
      'memory.available<96Mi',
      swap,
      'degraded',
      /only when swap is full: .*96MiB free \(high\)/,
    ],
    ['above that', 'memory.available<97Mi', swap, 'ok', / in 23 ms/],
    ['swap is watched, too', 'memory.available<96Mi,swap.available<10%', swap, 'ok', / in 22 ms/],
    ['a percentage is shown with its amount', 'memory.available<10%', {}, 'ok', /^memory\.available<10% \(819MiB\)/],
  ])('%s', (_rule, threshold, facts, status, summary) => {
    const checks = watermarksCheck.judge({ memory: memoryFacts(facts), node: nodeFacts({ thresholds: hard(threshold) }) });
    expectCheck(checks[0], 'kernel.watermarks', status, summary);
  });

  test.each<[rule: string, threshold: string, status: CheckStatus, summary: RegExp]>([
    [
      'below what the kernel keeps free, and below what it swaps for',
      'memory.available<60Mi',
      'ok',
      /^memory.available<60Mi is 60MiB above .* in 41 ms/,
    ],
    ['19 ms above nothing', 'memory.available<28Mi', 'degraded', / in 19 ms .*, too short/],
  ])('MemAvailable leaves out what the kernel keeps free: %s', (_rule, threshold, status, summary) => {
    const node = nodeFacts({ thresholds: hard(threshold), estimated: true });
    expectCheck(watermarksCheck.judge({ memory: memoryFacts(swap), node })[0], 'kernel.watermarks', status, summary);
  });

  test.each<[rule: string, memory: Partial<MemoryFacts>, node: Partial<NodeFacts>]>([
    ['a cgroup has its own limit', {}, { isMachine: false }],
    ['no hard threshold of memory', {}, { thresholds: hard('nodefs.available<10%') }],
    ['zones that cannot be read', { watermarks: undefined }, {}],
  ])('no check: %s', (_rule, memory, node) => {
    expect(watermarksCheck.judge({ memory: memoryFacts(memory), node: nodeFacts(node) })).toEqual([]);
  });
});
