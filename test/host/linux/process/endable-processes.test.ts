import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { endableProcess, sessionLeaders, type ProcessRoots } from '../../../../src/host/linux/process/endable-processes.js';
import { temporaryDirectory } from '../../../support/temporary-directory.js';

let roots: ProcessRoots;
let root: string;

beforeEach(() => {
  root = temporaryDirectory();
  roots = { proc: join(root, 'proc'), sessions: join(root, 'sessions') };
});

interface Written {
  readonly pid?: number;
  readonly name?: string;
  readonly memory?: string;
  readonly scoreAdj?: string;
  readonly flags?: number;
  /** The target of /proc/PID/exe; null: it cannot be read. */
  readonly program?: string | null;
}

const MEMORY = 'VmRSS:\t  300 kB\nRssAnon:\t  200 kB\nRssFile:\t  100 kB\nVmPTE:\t  40 kB\nVmSwap:\t   50 kB\n';

/** The layout of Linux 6.18. */
function written({
  pid = 4711,
  name = 'leak',
  memory = MEMORY,
  scoreAdj = '200',
  flags = 0x40_0000,
  program = '/usr/bin/leak',
}: Written = {}) {
  const directory = `${roots.proc}/${String(pid)}`;
  mkdirSync(directory, { recursive: true });
  writeFileSync(`${directory}/status`, `Name:\t${name}\nState:\tS (sleeping)\nThreads:\t1\n${memory}`);
  const behind = `S 1 ${String(pid)} ${String(pid)} 0 -1 ${String(flags)} 0 0 0 0 3 4 0 0 20 0 1 0 123456 0 0`;
  writeFileSync(`${directory}/stat`, `${String(pid)} (${name}) ${behind}\n`);
  writeFileSync(`${directory}/oom_score`, '812\n');
  writeFileSync(`${directory}/oom_score_adj`, `${scoreAdj}\n`);
  if (program !== null) symlinkSync(program, `${directory}/exe`);
  return endableProcess(pid, '/a/web', sessionLeaders(roots), roots);
}

test('the memory, start time and score of a process are read', () => {
  expect(written()).toEqual({
    ...{ path: '/a/web', pid: 4711, startTicks: 123_456n, command: 'leak', oomScore: 812 },
    ...{ residentBytes: 300n * 1024n, anonBytes: 200n * 1024n, swapBytes: 50n * 1024n },
  });
});

describe('processes that are never ended alone', () => {
  test.each<[rule: string, process: Written]>([
    ['process 1', { pid: 1 }],
    ['evictd itself', { pid: process.pid }],
    ['OOMScoreAdjust=-1000', { scoreAdj: '-1000' }],
    ['a compositor', { name: 'sway', program: '/usr/bin/sway' }],
    ['a compositor whose program was replaced', { name: 'sway', program: '/usr/bin/sway (deleted)' }],
    ['a display server', { name: 'Xorg', program: '/usr/lib/xorg/Xorg' }],
    ['a name that the kernel has cut', { name: 'gnome-session-b', program: '/usr/libexec/gnome-session-binary' }],
    ['a window manager that is a script', { name: 'qtile', program: '/usr/bin/python3.13' }],
    ['a process whose program cannot be read', { name: 'sshd', program: null }],
  ])('%s', (_rule, process) => {
    expect(written(process)).toBe('kept');
  });

  test('include the leader of a login session, by the file of logind', () => {
    mkdirSync(roots.sessions);
    writeFileSync(`${roots.sessions}/2`, '# This is private data.\nUID=1000\nUSER=ada\nACTIVE=1\nLEADER=4711\nTYPE=wayland\n');
    writeFileSync(`${roots.sessions}/2.ref`, 'LEADER=4712\n');
    expect(written()).toBe('kept');
    expect(written({ pid: 4712 })).toMatchObject({ pid: 4712 });
  });
});

test('processes that have ended, and kernel threads, are not candidates', () => {
  expect(endableProcess(4711, '/a/web', new Set(), roots)).toBeUndefined();
  expect(written({ memory: '' })).toBeUndefined();
  expect(written({ pid: 4712, flags: 0x20_0040 })).toBeUndefined();
});

test('a process that has only the name of a compositor is a candidate', () => {
  expect(written({ name: 'sway', program: '/usr/bin/python3.13' })).toMatchObject({ pid: 4711 });
  expect(written({ pid: 4712, name: 'qtile' })).toMatchObject({ pid: 4712 });
});
