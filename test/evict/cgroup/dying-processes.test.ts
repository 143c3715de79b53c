import { expect, test } from 'vitest';
import { dyingProcesses, laterProcess } from '../../../src/evict/cgroup/dying-processes.js';

/** As proc_pid_stat(5) has it; Linux 6.18, a shell whose name was changed. */
const stat = (state: string, user: number, system: number, name = 'sh) R 1 (') =>
  `4711 (${name}) ${state} 1 4711 4711 0 -1 4194564 90 0 0 0 ${String(user)} ${String(system)} 0 0 20 0 1 0 1234 0 0\n`;

test.each<[rule: string, texts: readonly (string | undefined)[], found: ReturnType<typeof dyingProcesses>]>([
  ['the CPU times of all processes are added, and one of them runs', [stat('D', 1, 2), stat('R', 10, 20)], { ticks: 33n, runs: true }],
  ['a process that is blocked does not run, whatever its name', [stat('D', 1, 2)], { ticks: 3n, runs: false }],
  ['a leader whose threads exit', [stat('Z', 7, 0)], { ticks: 7n, runs: false }],
  ['one process has ended', [undefined, stat('D', 1, 2)], { ticks: 3n, runs: false }],
  ['all processes have ended', [undefined], undefined],
  ['a text that was cut off', ['4711 (sh) D 1 4711'], undefined],
  ['none', [], undefined],
])('%s', (_rule, texts, found) => {
  expect(dyingProcesses([...texts.keys()], (pid) => texts[pid])).toEqual(found);
});

test('a sample of many processes is enough', () => {
  const asked: number[] = [];
  dyingProcesses([...Array(1000).keys()], (pid) => {
    asked.push(pid);
    return stat('D', 1, 1);
  });
  expect(asked).toHaveLength(16);
});

/** Started 12.34 s after the boot. */
const STARTED_NS = 12_340_000_000n;

test.each<[rule: string, texts: readonly (string | undefined)[], sinceNs: bigint, found: ReturnType<typeof laterProcess>]>([
  [
    'all were started later, and the first counts, whatever its name',
    [stat('S', 1, 1, 'a) b'), stat('S', 1, 1)],
    STARTED_NS,
    { pid: 0, name: 'a) b' },
  ],
  ['one was started before', [stat('S', 1, 1), stat('S', 1, 1).replace(' 1234 ', ' 1233 ')], STARTED_NS, undefined],
  ['perhaps before: the kernel has whole ticks', [stat('S', 1, 1)], STARTED_NS + 1n, undefined],
  ['one process has ended', [undefined, stat('S', 1, 1)], STARTED_NS, { pid: 1, name: 'sh) R 1 (' }],
  ['all processes have ended', [undefined], STARTED_NS, undefined],
  ['there are too many processes to know', Array<string>(17).fill(stat('S', 1, 1)), STARTED_NS, undefined],
])('a process that was started later: %s', (_rule, texts, sinceNs, found) => {
  expect(laterProcess([...texts.keys()], sinceNs, (pid) => texts[pid])).toEqual(found);
});

test("evictd's own process runs", () => {
  expect(dyingProcesses([process.pid])).toMatchObject({ runs: true });
});
