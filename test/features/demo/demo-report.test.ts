import { expect, test } from 'vitest';
import { reportText, type DemoReport } from '../../../src/features/demo/demo-report.js';

const plain = (_colour: string, text: string): string => text;

/** A report of an eviction with these times. */
const withSpans = (spansMs: Readonly<Record<string, number>>): DemoReport =>
  ({ checks: [], oomKills: null, workloads: [], outcome: { message: 'evicted batch', spansMs } }) as unknown as DemoReport;

test.each<[rule: string, spansMs: Readonly<Record<string, number>>, latency: string]>([
  [
    'each step of the main thread has a latency',
    { crossingToWake: 0.2, wakeToDecision: 0.5, decisionToSignal: 2.3, crossingToSignal: 3, signalToExit: 9.4 },
    'crossing → wake 0.20 ms → decision 0.50 ms → signal 2.30 ms → gone 9.40 ms; crossing → signal 3.00 ms',
  ],
  [
    'a standing order has no latency of wake and decision',
    { decisionToSignal: 0, crossingToSignal: 0.78, signalToExit: 21.56 },
    'crossing → signal 0.78 ms → gone 21.56 ms',
  ],
])('the latencies in the report: %s', (_rule, spansMs, latency) => {
  expect(reportText(withSpans(spansMs), plain)).toMatch(new RegExp(`latency +${latency.replaceAll('.', '\\.')}\n`));
});
