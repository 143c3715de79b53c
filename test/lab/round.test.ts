import { describe, expect, test } from 'vitest';
import { fieldsOf } from './fields.js';
import { parseRounds } from './round.js';

const REFEREE =
  'go_us=40000000 crossing_ms=3000.0 dead_ms=3700.5 rate_before=48.0 low_available_kib=93616 low_swap_kib=0 oom_kills=0 stall_ms=208.3';
const LINE = `round=0 rate=50 pid=217 limit_mib=100 lost=- ${REFEREE}`;
const SIGNAL = '        earlyoom-188     [000] d..1.    43.223600: signal_generate: sig=15 errno=0 code=0 comm=batch pid=217 grp=1 res=0';
const MARK = '            web-188     [000] d..1.    43.223900: mark_victim: pid=217 comm=batch total-vm=1kB';

const parsed = (...lines: string[]) => parseRounds(`${lines.join('\n')}\n`, { who: 'earlyoom' }).map(fieldsOf);

test('a round has the time from the crossing to the signal, and from there to the end', () => {
  expect(parsed(LINE, '# tracer: nop', SIGNAL)).toEqual([
    {
      ...{ who: 'earlyoom', round: '0', rate: '50', limit_mib: '100', crossing_ms: '3000.0', dead_ms: '3700.5', rate_before: '48.0' },
      ...{ low_available_kib: '93616', low_swap_kib: '0', oom_kills: '0', stall_ms: '208.3' },
      ...{ outcome: 'won', by: 'earlyoom', signals: '1', signal_ms: '223.6', gone_ms: '476.9', all: 'earlyoom:15>batch' },
    },
  ]);
});

test('each round has its own trace', () => {
  const second = LINE.replace('round=0', 'round=1').replace('pid=217', 'pid=301');
  const rounds = parsed(LINE, SIGNAL, second, '# tracer: nop', SIGNAL.replace('217', '301').replace('sig=15', 'sig=9'));
  expect(rounds.map(({ round, all }) => [round, all])).toEqual([
    ['0', 'earlyoom:15>batch'],
    ['1', 'earlyoom:9>batch'],
  ]);
});

test('no round gives no result', () => {
  expect(parsed('')).toEqual([]);
});

describe('the outcome of a round', () => {
  test.each<[what: string, lines: readonly string[], outcome: string]>([
    ['the OOM killer ended the leak', [LINE, SIGNAL, MARK], 'kernel'],
    ['the OOM killer ended another process', [LINE.replace('oom_kills=0', 'oom_kills=1'), SIGNAL], 'kernel'],
    ['a service was ended', [LINE.replace('lost=-', 'lost=web+db'), SIGNAL], 'wrong'],
    ['the leak outlived the round', [LINE.replace('dead_ms=3700.5', 'dead_ms=-')], 'undecided'],
    ['more than 1.2 × the limit was available', [LINE.replace('93616', '122881'), SIGNAL], 'early'],
    ['1.2 × the limit was available', [LINE.replace('93616', '122880'), SIGNAL], 'won'],
    ['ended before the round began', [LINE.replace(` ${REFEREE}`, ''), SIGNAL], 'early'],
    ['ended by the OOM killer before the round began', [LINE.replace(` ${REFEREE}`, ''), SIGNAL, MARK], 'kernel'],
  ])('%s', (_what, lines, outcome) => {
    expect(parsed(...lines)).toMatchObject([{ outcome }]);
  });

  test('ended before the referee saw the crossing is won, without a time to the signal', () => {
    const [round] = parsed(LINE.replace('crossing_ms=3000.0', 'crossing_ms=-'), SIGNAL);
    expect([round?.outcome, round?.signal_ms, round?.gone_ms]).toEqual(['won', undefined, '476.9']);
  });
});
