import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atMost, type Bench, type Benchmark, type Figure, type Result } from './benchmark.js';
import { EVICTD } from './evictd.js';

const JOURNAL_BYTES = 300_000_000;
/** Each record of a decision has all of them. */
const WORKLOADS = 20;
const LOOK_EVERY_MS = 10;

/** Reading a long journal: the time, and memory, which must not grow with it. */
export const history: Benchmark = {
  name: 'history',
  what: '`evictd history` of 300 MB of journal',
  run: async (bench: Bench): Promise<Result> => {
    const directory = mkdtempSync(join(tmpdir(), 'evictd-bench-'));
    bench.cleanup(() => {
      rmSync(directory, { recursive: true, force: true });
    });
    const journal = join(directory, 'journal.jsonl');
    const evictions = write(journal);
    const figures: Figure[] = [];
    for (const args of [['--limit', '3'], ['--type', 'kernel-oom'], ['--summary'], [], ['--output', 'json']]) {
      const { seconds, peakMib } = await measured([...args, journal]);
      const what = ['history', ...args].join(' ');
      figures.push({ what, unit: 's', measured: seconds }, { what: '… resident at most', unit: 'MiB', measured: peakMib, ...atMost(150) });
    }
    return { figures, notes: [`${String(evictions)} evictions among ${String(WORKLOADS)} workloads; written to /dev/null`] };
  },
};

async function measured(args: readonly string[]): Promise<{ seconds: number; peakMib: number }> {
  const from = process.hrtime.bigint();
  const child = spawn(process.execPath, [EVICTD, 'history', ...args], { stdio: 'ignore', env: { ...process.env, NODE_OPTIONS: '' } });
  let peakKib = 0;
  const look = setInterval(() => {
    peakKib = Math.max(peakKib, peakOf(child.pid ?? 0));
  }, LOOK_EVERY_MS);
  const [code] = (await once(child, 'exit')) as [number | null];
  clearInterval(look);
  if (code !== 0) throw new Error(`evictd history ${args.join(' ')}: exit ${String(code)}`);
  return { seconds: Number(process.hrtime.bigint() - from) / 1e9, peakMib: peakKib / 1024 };
}

function peakOf(pid: number): number {
  try {
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${String(pid)}/status`, 'utf8'))?.[1] ?? 0);
  } catch {
    return 0; // it has ended
  }
}

function write(path: string): number {
  const file = openSync(path, 'w');
  const ranking = Array.from({ length: WORKLOADS }, (_, index) => row(index));
  let [bytes, serial] = [0, 0];
  for (; bytes < JOURNAL_BYTES; serial += 1) bytes += writeSync(file, records(serial, ranking));
  closeSync(file);
  return serial;
}

/** The records of an eviction, as in docs/journal.md. */
function records(serial: number, ranking: readonly object[]): string {
  const name = `w${String(serial % WORKLOADS)}`;
  const victim = { name, path: `/work.slice/${name}`, id: `/work.slice/${name}#${String(serial)}` };
  const reading = {
    signal: 'memory.available',
    kind: 'hard',
    threshold: '64Mi',
    thresholdValue: 67_108_864,
    available: 66_682_880,
    capacity: 268_435_456,
  };
  const spansMs = { crossingToSignal: 5.37, signalToExit: 18.324 };
  const list = [
    { type: 'threshold', met: true, ...reading, message: 'memory.available 63.5MiB < 64Mi (hard)' },
    {
      type: 'decision',
      decision: serial,
      dryRun: false,
      ...reading,
      victim,
      action: 'SIGKILL',
      graceSeconds: 0,
      counts: { ranking: ranking.length, unreadable: 0 },
      ranking: ranking.slice(0, 8),
      message: `evicting ${name}`,
    },
    { type: 'ranking', decision: serial, part: 1, parts: 1, victim, ranking, message: `candidates of ${name}` },
    { type: 'condition', condition: 'MemoryPressure', status: true, message: 'node condition MemoryPressure is now true' },
    {
      type: 'outcome',
      decision: serial,
      result: 'killed',
      signal: reading.signal,
      victim,
      freedBytes: 111_046_656,
      spansMs,
      message: `evicted ${name}`,
    },
    ...(serial % 10 === 0 ? [{ type: 'kernel-oom', limit: 'workload', workload: victim, message: 'killed' }] : []),
  ];
  const time = new Date(Date.UTC(2026, 0) + serial * 1_000).toISOString();
  return list.map(({ type, ...rest }) => `${JSON.stringify({ time, type, node: 'machine', ...rest })}\n`).join('');
}

function row(index: number): object {
  const name = `w${String(index)}`;
  const bytes = 109_740_032;
  const usage = { aboveRequestBytes: bytes, startOrder: 458_801, workingSetBytes: bytes, usageBytes: bytes, requestBytes: 0 };
  return { place: index + 1, name, exceedsRequest: true, priority: 0, ...usage, path: `/work.slice/${name}` };
}
