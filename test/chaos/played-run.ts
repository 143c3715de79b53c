import { check, type Verdict } from './checker.js';
import type { JournalRecord } from './journal-lines.js';
import { A_UNIT, type Promised, type Seen } from './seen.js';

export const PROMISED: Promised = { seed: 7, budget: { max: 2, windowMs: 10_000 }, last: '3', looksWithinMs: 1000 };
const INODES: Readonly<Record<string, string>> = { web: '1', db: '2', last: '3', job: '4', batch: '5', again: '6', unit: A_UNIT };
const MIB = 1 << 20;

/** The values of `key=value` in the words of a line. */
function settings(line: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(line.flatMap((word) => (word.includes('=') ? [word.split('=')] : []))) as Record<string, string>;
}

/**
 * A record each: `20 decision 1 web [wake=18] [ordered] [pid.available] [as=web] [repeats]`, `25 alert no-yield`,
 * `21 killed 1 [taken] [after=0.2]`, `23 met`, `33 unmet`, `28 resume`, `28 start [resumed]`, `31 kernel-oom job node`.
 * A decision needs 200 MiB.
 */
function record(text: string): JournalRecord {
  const [second = '', type = '', number = '', victim = '', ...more] = text.split(' ');
  const at = { time: new Date(Number(second) * 1000).toISOString() };
  const { wake = second, after, as = victim } = settings([victim, ...more]);
  const spans = after === undefined ? {} : { spansMs: { crossingToSignal: Number(after) * 1000 } };
  const limit = 200 * MIB;
  const read = { ...at, signal: more.find((word) => word.includes('.')) ?? 'memory.available', thresholdValue: limit };
  switch (type) {
    case 'alert':
      return { ...read, type, alert: number };
    case 'met':
    case 'unmet':
      return { ...read, type: 'threshold', kind: 'hard', threshold: '200Mi', met: type === 'met' };
    case 'resume':
      return { ...at, type };
    case 'start':
      return { ...at, type, ...(number === 'resumed' && { resumed: {} }) };
    case 'kernel-oom':
      return { ...at, type, workload: { name: number }, limit: victim };
    case 'decision':
      return {
        ...read,
        type,
        limit,
        decision: Number(number),
        wake: more.includes('ordered') ? 'standing_order' : 'tick',
        wakeAtNs: Number(wake) * 1e9,
        victim: { name: as, id: `/node/${as}#${INODES[victim] ?? ''}` },
        ...(more.includes('repeats') && { repeats: true }),
      };
    default:
      return {
        ...read,
        type: 'outcome',
        decision: Number(number),
        result: type,
        ...(victim === 'taken' && { notFreed: 'taken' }),
        ...spans,
      };
  }
}

/**
 * An event each: `10 begins web`, `20 ends web [SIGTERM] [sent]`, `12 again web`, `30 oom web [own]`, `25 guards`,
 * `26 looks free=100 job=40 alive=104` (MiB).
 */
function event(text: string): Seen[] {
  const [second = '', kind = '', name = '', ...more] = text.split(' ');
  const at = Number(second) * 1000;
  const now = { at, wall: at };
  const workload = INODES[name] ?? '';
  const its = { ...now, workload, pid: 100 + Number(workload) };
  switch (kind) {
    case 'again':
      return [{ ...its, kind: 'process' }];
    case 'begins':
      return [
        { ...now, kind: 'workload', workload, name, protected: name === 'db' },
        { ...its, kind: 'process' },
      ];
    case 'renamed':
      return [{ ...now, kind, workload, name: more[0] ?? '' }];
    case 'ends':
      return [{ ...its, kind: 'ended', signal: more.find((word) => word.startsWith('SIG')) ?? 'SIGKILL', sent: more.includes('sent') }];
    case 'oom':
      return [{ ...now, kind: 'kernel-kills', workload, count: 1, since: at - 500, limit: more.includes('own') ? 'own' : 'node' }];
    case 'looks': {
      const { free = '0', alive = '', ...held } = settings([name, ...more]);
      const anonBytes = Object.fromEntries(Object.entries(held).map(([of, mib]) => [INODES[of] ?? '', Number(mib) * MIB]));
      return [{ ...now, kind: 'looked', freeBytes: Number(free) * MIB, anonBytes, alive: alive.split(',').map(Number) }];
    }
    default:
      return [{ ...now, kind: 'evictd', state: kind as 'guards' }];
  }
}

const words = (text: string): string[] =>
  text
    .split(';')
    .map((part) => part.trim())
    .filter(Boolean);
/** `web` is evicted in second 20, `last` in second 40; the protected `db` and `job` run from second 10. */
export const JOURNAL = '20 decision 1 web; 21 killed 1; 40 decision 2 last; 41 killed 2;';
export const SEEN = '5 guards; 10 begins web; 10 begins db; 10 begins job; 20.5 ends web; 39 begins last; 40.5 ends last;';
export const verdict = (journal: string, seen: string): Verdict =>
  check(
    {
      records: words(journal)
        .map(record)
        .sort((a, b) => Date.parse(a.time) - Date.parse(b.time)),
      broken: [],
    },
    words(seen)
      .flatMap(event)
      .sort((a, b) => a.at - b.at),
    PROMISED,
  );
export const found = ({ violations }: Verdict): string[] =>
  violations.map((text) => text.split('\n')[0]?.replace(/^seed 7, \S+: /, '') ?? '');
export const BATCH = `${JOURNAL} 24 decision 3 batch; 25 killed 3;`;
export const WITH_BATCH = `${SEEN} 10 begins batch; 24.5 ends batch;`;
export const KILLED = '30 oom job; 30 ends job';
export const EARLIER = JOURNAL.replace('20 decision 1 web; 21 killed 1', '18 decision 1 web; 19 killed 1');
