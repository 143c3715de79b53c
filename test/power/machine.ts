import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';

export type JournalRecord = Readonly<Record<string, unknown>> & { readonly type: string };

/** Results of a machine that was shut down. Times are seconds since the request, on its boot clock. */
export interface WentDown {
  /** What was said in it. */
  readonly output: string;
  /** Journal records in order. */
  readonly journal: readonly JournalRecord[];
  /** When a workload got its first SIGTERM, and when it had ended; undefined: never. */
  readonly workload: (name: string) => { readonly sigterm: number | undefined; readonly ended: number | undefined };
  /** That stands in a file. */
  readonly time: (name: string) => number;
}

/** Status of boot if a machine panicked or could not start, which is no failure of evictd. */
const WENT_WRONG = 125;

/** Boots a machine that `guest` shuts down, and waits for its end. The time limit of a test fits two boots. */
export async function goingDown(name: string, ...guest: readonly string[]): Promise<WentDown> {
  const first = await boot(name, guest);
  if (first.status !== WENT_WRONG) return left(first);
  process.stderr.write(`${name}: its machine went down by itself, or could not be had (logs: ${first.out}); once more\n${first.output}\n`);
  return left(await boot(`${name}-again`, guest));
}

interface Booted {
  readonly out: string;
  readonly output: string;
  readonly status: number;
  readonly seconds: number;
}

async function boot(name: string, guest: readonly string[]): Promise<Booted> {
  const out = join('build/vm/v2-power', name);
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  const began = performance.now();
  const { output, status } = await ended(['--goes-down', '--time-limit', '240', '--out', out, '/project/test/power/guest', ...guest]);
  return { out, output, status, seconds: Math.round((performance.now() - began) / 1_000) };
}

function left({ out, output, status, seconds }: Booted): WentDown {
  if (status !== 0) throw new Error(`boot: ${String(status)} after ${String(seconds)} s (logs: ${out})\n${output}`);
  const text = (file: string): string => (existsSync(join(out, file)) ? readFileSync(join(out, file), 'utf8') : '');
  const asked = Number(text('asked'));
  if (!(asked > 0)) throw new Error(`it did not come so far as to go down (logs: ${out})\n${output}`);
  const when = (file: string, what: string): number | undefined => {
    const line = text(file)
      .split('\n')
      .find((each) => each.startsWith(`${what} `));
    return line === undefined ? undefined : Number(line.split(' ')[1]) - asked;
  };
  return {
    output,
    journal: text('journal.jsonl')
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as JournalRecord),
    workload: (file) => ({ sigterm: when(file, 'sigterm'), ended: when(file, 'ended') }),
    time: (file) => Number(text(file)) - asked,
  };
}

function ended(args: readonly string[]): Promise<{ readonly output: string; readonly status: number }> {
  return new Promise((resolve) => {
    execFile(join(import.meta.dirname, '../vm/boot'), args, { maxBuffer: 1 << 26 }, (error, stdout, stderr) => {
      const status = error === null ? 0 : typeof error.code === 'number' ? error.code : 1;
      resolve({ output: `${stdout}${stderr}`, status });
    });
  });
}
