import { describe, test } from 'vitest';
import type { CheckStatus } from '../../../../src/features/doctor/check.js';
import type { MemoryFacts } from '../../../../src/host/facts.js';
import { oomCheck } from '../../../../src/features/doctor/checks/kernel.js';
import { overcommitCheck } from '../../../../src/features/doctor/checks/memory.js';
import { expectCheck, GIB, memoryFacts, MIB, nodeFacts } from '../support.js';

describe('the check kernel.oom', () => {
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

describe('the check kernel.overcommit on 8 GiB with a threshold of 500 MiB', () => {
  test.each<[rule: string, facts: Partial<MemoryFacts>, status: CheckStatus, summary: RegExp]>([
    ['heuristic', {}, 'ok', /^vm\.overcommit_memory=0$/],
    ['always', { overcommitMemory: 1 }, 'ok', /=1$/],
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
