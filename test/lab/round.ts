import { type Fields, fieldsOf, lineOf, numberOf } from './fields.js';
import { parseSignalTrace, type SignalTrace } from './signal-trace.js';

/**
 * How a round ended.
 *
 * - `won`: the contestant ended the leak, and nothing else was ended
 * - `kernel`: the OOM killer took part
 * - `wrong`: a service of the workload was ended
 * - `early`: ended while much more than the limit was available
 * - `undecided`: the leak outlived the round
 */
export type Outcome = 'won' | 'kernel' | 'wrong' | 'early' | 'undecided';

/** An eviction with more than this part of the limit available was not needed yet. */
const NEAR_THE_LIMIT = 1.2;

/**
 * Reads what race.sh has written: for each round a line of name=value, then the trace of its signals.
 *
 * @param of  what is the same for all rounds of this machine
 * @returns a line of the lab for each round
 */
export function parseRounds(text: string, of: Readonly<Record<string, string>>): string[] {
  return text.split(/^(?=round=)/m).flatMap((part) => {
    if (!part.startsWith('round=')) return [];
    const end = part.indexOf('\n');
    const round = fieldsOf(part.slice(0, end));
    return [lineOf({ ...of, ...judged(round, parseSignalTrace(part.slice(end), numberOf(round, 'pid') ?? 0)) })];
  });
}

function judged(round: Fields, trace: SignalTrace): Record<string, string | number | undefined> {
  const { go_us: _go, pid: _pid, ...kept } = round;
  const goUs = numberOf(round, 'go_us');
  const [crossing, dead] = [numberOf(round, 'crossing_ms'), numberOf(round, 'dead_ms')];
  const signal = goUs === undefined || trace.firstUs === undefined ? undefined : (trace.firstUs - goUs) / 1e3;
  return {
    ...kept,
    outcome: outcome(round, trace),
    by: trace.by,
    signals: trace.toProcess,
    signal_ms: between(crossing, signal),
    gone_ms: between(signal, dead),
    all: trace.all.join(','),
  };
}

function outcome(round: Fields, trace: SignalTrace): Outcome {
  const low = numberOf(round, 'low_available_kib') ?? Infinity;
  if (trace.by?.endsWith('KERNEL') === true || (numberOf(round, 'oom_kills') ?? 0) > 0) return 'kernel';
  if (round.lost !== undefined) return 'wrong';
  if (round.go_us !== undefined && round.dead_ms === undefined) return 'undecided';
  return low > (numberOf(round, 'limit_mib') ?? 0) * 1024 * NEAR_THE_LIMIT ? 'early' : 'won';
}

/** To a tenth of a millisecond. */
function between(from: number | undefined, to: number | undefined): string | undefined {
  return from === undefined || to === undefined ? undefined : (to - from).toFixed(1);
}
