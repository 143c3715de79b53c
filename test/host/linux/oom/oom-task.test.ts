import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { badnessPages, oomScoreOf } from '../../../../src/core/oom/oom-badness.js';
import { parseMemory, parseTask, type ParsedTask, type ProcessTexts } from '../../../../src/host/linux/oom/oom-processes.js';

const FIXTURES = join(import.meta.dirname, '../../../fixtures/linux/oom-killer');
const captured = (name: string): ProcessTexts => {
  const text = (file: string): string => readFileSync(join(FIXTURES, `${name}.${file}`), 'utf8');
  return { status: text('status'), stat: text('stat'), score: text('oom_score'), scoreAdj: text('oom_score_adj') };
};
const KiB = 1024n;
const MiB = 1024n * KiB;

describe('the files of a process for the OOM order', () => {
  test.each<[rule: string, texts: ProcessTexts, parsed: Partial<ParsedTask>]>([
    [
      'a name with parentheses, a newline and a terminal sequence',
      captured('odd-name'),
      {
        name: 'a) R\u001b[31m\\n(b',
        kernelThread: false,
        memory: { rssBytes: 77_392n * KiB, swapBytes: 0n, pageTableBytes: 208n * KiB },
        oomScore: 1002,
        oomScoreAdj: 500,
        startTicks: 150_009n,
        memoryNodes: '0',
      },
    ],
    ['a kernel thread', captured('kernel-thread'), { name: 'kthreadd', kernelThread: true, memory: undefined, oomScore: 0 }],
    ['a process that has ended', captured('zombie'), { kernelThread: false, memory: undefined, threads: 1 }],
    [
      'a process whose first thread has ended while another runs',
      captured('leader-ended'),
      { memory: undefined, threads: 2, oomScore: 666 },
    ],
    ['oom_score unreadable', { ...captured('zombie'), score: undefined }, { oomScore: undefined }],
    ['a negative adjustment', { ...captured('zombie'), scoreAdj: '-1000\n' }, { oomScoreAdj: -1000 }],
  ])('%s', (_rule, texts, parsed) => {
    expect(parseTask(texts)).toMatchObject(parsed);
  });

  test.each<[rule: string, texts: ProcessTexts]>([
    ['stat cut off', { ...captured('zombie'), stat: '15667 (python3) Z 15625' }],
    ['empty, as when it ends in between', { status: '', stat: '', score: '', scoreAdj: '' }],
    ['oom_score_adj is not a number', { ...captured('zombie'), scoreAdj: 'max' }],
  ])('are not those of a process: %s', (_rule, texts) => {
    expect(parseTask(texts)).toBeUndefined();
  });

  test.each<[rule: string, status: string, memory: ReturnType<typeof parseMemory>]>([
    [
      'swap counts',
      'VmRSS:\t    1024 kB\nVmPTE:\t      40 kB\nVmSwap:\t     512 kB\n',
      { rssBytes: MiB, swapBytes: 512n * KiB, pageTableBytes: 40n * KiB },
    ],
    ['a kernel without swap', 'VmRSS:\t0 kB\nVmPTE:\t8 kB\n', { rssBytes: 0n, swapBytes: 0n, pageTableBytes: 8n * KiB }],
    [
      'a name with a line end of Unicode sets no field',
      'Name:\ta\u2028VmRSS: 0 kB\nVmRSS:\t8 kB\nVmPTE:\t4 kB\n',
      { rssBytes: 8n * KiB, swapBytes: 0n, pageTableBytes: 4n * KiB },
    ],
    [
      'the status of a thread has the memory of its process',
      readFileSync(join(FIXTURES, 'leader-ended.task.status'), 'utf8'),
      {
        rssBytes: 11_620n * KiB,
        swapBytes: 0n,
        pageTableBytes: 84n * KiB,
      },
    ],
    ['none', 'Name:\tkthreadd\n', undefined],
  ])('have the memory: %s', (_rule, status, memory) => {
    expect(parseMemory(status)).toEqual(memory);
  });

  test('have the score that the formula computes', () => {
    const { memory, oomScoreAdj, oomScore } = parseTask(captured('odd-name')) ?? {};
    const pages = 25_276_502_016n / 4096n; // MemTotal of that machine
    expect(memory && oomScoreOf(badnessPages(memory, oomScoreAdj ?? 0, pages, 4096n), pages)).toBe(BigInt(oomScore ?? 0));
  });
});
