import { describe, test } from 'vitest';
import type { CheckStatus } from '../../../../src/features/doctor/check.js';
import type { MemoryFacts } from '../../../../src/host/facts.js';
import { oomCheck } from '../../../../src/features/doctor/checks/kernel.js';
import { overcommitCheck, swapCheck } from '../../../../src/features/doctor/checks/memory.js';
import { expectCheck, GIB, memoryFacts, MIB, nodeFacts, workloadFacts } from '../support.js';

describe('the check kernel.oom', () => {
  const VM = '/proc/sys/vm';
  const usual = {
    [`${VM}/panic_on_oom`]: '0\n',
    [`${VM}/oom_kill_allocating_task`]: '0\n',
    '/sys/kernel/mm/lru_gen/min_ttl_ms': '0\n',
  };

  test.each<[rule: string, files: Readonly<Record<string, string | undefined>>, status: CheckStatus, summary: RegExp]>([
    ['the defaults', usual, 'ok', /by oom_score$/],
    ['a kernel without multi-generational LRU', { ...usual, '/sys/kernel/mm/lru_gen/min_ttl_ms': undefined }, 'ok', /by oom_score$/],
    ['no setting is readable', {}, 'degraded', /^unknown what .*: cannot read .*panic_on_oom and .*oom_kill_allocating_task$/],
    [
      'one setting is not readable',
      { ...usual, [`${VM}/panic_on_oom`]: undefined },
      'degraded',
      /^unknown .* cannot read \S*panic_on_oom$/,
    ],
    ['the other is not readable', { ...usual, [`${VM}/oom_kill_allocating_task`]: undefined }, 'degraded', /^unknown .*allocating_task$/],
    ['a problem besides', { [`${VM}/panic_on_oom`]: '1\n' }, 'degraded', /^panic_on_oom=1/],
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

describe('the check kernel.overcommit on 8 GiB with a threshold of 500 MiB', () => {
  test.each<[rule: string, facts: Partial<MemoryFacts>, status: CheckStatus, summary: RegExp]>([
    ['heuristic', {}, 'ok', /^vm\.overcommit_memory=0$/],
    ['always', { overcommitMemory: 1 }, 'ok', /=1$/],
    ['not readable', { overcommitMemory: undefined }, 'degraded', /^unknown whether allocations can fail: cannot read/],
    ['strict, and no limit', { overcommitMemory: 2, commitLimitBytes: undefined }, 'degraded', /^unknown .* cannot read \/proc\/meminfo$/],
    [
      'strict, and malloc fails long before',
      { overcommitMemory: 2 },
      'degraded',
      /CommitLimit 4GiB: allocations fail before memory\.available<500Mi is met \(at 7\.51GiB in use\)/,
    ],
    [
      'strict overcommit with one byte too little',
      { overcommitMemory: 2, commitLimitBytes: 8n * GIB - 500n * MIB },
      'degraded',
      /fail before/,
    ],
    [
      'strict overcommit with one byte more',
      { overcommitMemory: 2, commitLimitBytes: 8n * GIB - 500n * MIB + 1n },
      'ok',
      /is met before allocations fail/,
    ],
  ])('%s', (_rule, facts, status, summary) => {
    expectCheck(overcommitCheck.judge({ memory: memoryFacts(facts), node: nodeFacts() })[0], 'kernel.overcommit', status, summary);
  });
});

describe('the check kernel.swap', () => {
  test.each<[rule: string, facts: Partial<MemoryFacts>, status: CheckStatus, summary: RegExp]>([
    ['none', {}, 'ok', /^no swap$/],
    ['none, and /proc/swaps is not readable', { swaps: undefined }, 'ok', /^no swap$/],
    ['a partition', { swapBytes: GIB, swaps: ['/dev/sda2'] }, 'ok', /^1GiB on \/dev\/sda2, swappiness 60$/],
    ['/proc/meminfo is not readable', { swapBytes: undefined }, 'degraded', /^unknown whether there is swap: cannot read \/proc\/meminfo$/],
    ['/proc/swaps is not readable', { swapBytes: GIB, swaps: undefined }, 'degraded', /^unknown where swap is: cannot read \/proc\/swaps$/],
  ])('%s', (_rule, facts, status, summary) => {
    const [check] = swapCheck.judge({ memory: memoryFacts(facts), workloads: workloadFacts() });
    expectCheck(check, 'kernel.swap', status, summary);
  });
});
