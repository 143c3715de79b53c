import { describe, expect, test } from 'vitest';
import { parseSignalTrace } from './signal-trace.js';

// Lines of /sys/kernel/tracing/trace of Linux 6.12.118 (Debian 13) with trace_clock mono; some shortened to make a case.

const HEADER = `# tracer: nop
#
# entries-in-buffer/entries-written: 2/2   #P:2
#
#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION
#              | |         |   |||||     |         |
`;
const EARLYOOM = `${HEADER}        earlyoom-188     [000] d..1.    43.317314: signal_generate: sig=15 errno=0 code=0 comm=batch pid=217 grp=1 res=0
`;
const EVICTD = `${HEADER}      MainThread-255     [001] d..1.   286.232537: signal_generate: sig=9 errno=0 code=0 comm=batch pid=428 grp=0 res=0
      MainThread-255     [001] d..1.   286.362090: signal_generate: sig=9 errno=0 code=0 comm=batch pid=428 grp=0 res=1
      MainThread-255     [001] dN.1.   286.362736: signal_generate: sig=9 errno=0 code=0 comm=batch pid=428 grp=1 res=1
`;
const KERNEL = `${HEADER}     interactive-220     [000] dN.2.    78.938953: signal_generate: sig=9 errno=0 code=128 comm=batch pid=210 grp=1 res=0
     interactive-220     [000] .N.1.    78.939433: mark_victim: pid=210 comm=batch total-vm=67109908kB anon-rss=319360kB file-rss:0kB
         systemd-1       [000] d..1.    80.131782: signal_generate: sig=15 errno=0 code=0 comm=batch pid=210 grp=1 res=1
`;

test('one signal has its sender, its time, and the number of signals', () => {
  expect(parseSignalTrace(EARLYOOM, 217)).toEqual({ by: 'earlyoom', firstUs: 43_317_314, toProcess: 1, all: ['earlyoom:15>batch'] });
});

test('the first of several equal signals counts', () => {
  expect(parseSignalTrace(EVICTD, 428)).toEqual({ by: 'MainThread', firstUs: 286_232_537, toProcess: 3, all: ['MainThread:9>batch×3'] });
});

test('a signal to another process is listed, and does not end the traced one', () => {
  expect(parseSignalTrace(EARLYOOM, 218)).toEqual({ by: undefined, firstUs: undefined, toProcess: 0, all: ['earlyoom:15>batch'] });
});

test('a trace without signals is empty', () => {
  expect(parseSignalTrace(HEADER, 217)).toEqual({ by: undefined, firstUs: undefined, toProcess: 0, all: [] });
});

describe('a signal that the OOM killer sends from the thread that asks for memory', () => {
  test('is from KERNEL, although the trace names that thread', () => {
    expect(parseSignalTrace(KERNEL, 210)).toMatchObject({ by: 'KERNEL', firstUs: 78_938_953, toProcess: 2 });
  });

  test('is from both, long after a signal of a contestant', () => {
    const first = '  earlyoom-188  [000] d..1.    70.000000: signal_generate: sig=15 errno=0 code=0 comm=batch pid=210 grp=1 res=0\n';
    expect(parseSignalTrace(first + KERNEL, 210)).toMatchObject({ by: 'earlyoom+KERNEL', firstUs: 70_000_000 });
  });

  test('does not count if it is to another victim', () => {
    const other = KERNEL.replaceAll('pid=210', 'pid=99') + EARLYOOM;
    expect(parseSignalTrace(other, 217).by).toBe('earlyoom');
  });
});

test('names with spaces, hyphens and colons are parsed', () => {
  const text = ' kworker/0:1-a b-12  [000] d..1.  1.000001: signal_generate: sig=9 errno=0 code=0 comm=tick plain pid=3 grp=1 res=0';
  expect(parseSignalTrace(text, 3)).toMatchObject({ by: 'kworker/0:1-a_b', all: ['kworker/0:1-a_b:9>tick_plain'] });
});
