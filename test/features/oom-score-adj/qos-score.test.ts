import { expect, test } from 'vitest';
import { qosOomScoreAdj } from '../../../src/features/oom-score-adj/qos-score.js';
import type { QosClass } from '../../../src/core/workload/workload.js';

const GIB = 1024n ** 3n;

test.each<[rule: string, qosClass: QosClass, request: bigint, capacity: bigint, score: number]>([
  ['Guaranteed, whatever it asks for', 'Guaranteed', 0n, 8n * GIB, -997],
  ['BestEffort', 'BestEffort', 8n * GIB, 8n * GIB, 1000],
  ['without a request the score is one below best effort', 'Burstable', 0n, 8n * GIB, 999],
  ['less than a thousandth', 'Burstable', 1n, 8n * GIB, 999],
  ['a thousandth', 'Burstable', 8n, 8000n, 999],
  ['two thousandths of the memory are requested', 'Burstable', 16n, 8000n, 998],
  ['the quotient is cut off, not rounded', 'Burstable', 15n, 8000n, 999],
  ['half', 'Burstable', 4n * GIB, 8n * GIB, 500],
  ['the last above the bound', 'Burstable', 996n, 1000n, 4],
  ['the bound', 'Burstable', 997n, 1000n, 3],
  ['beyond it', 'Burstable', 998n, 1000n, 3],
  ['everything', 'Burstable', 8n * GIB, 8n * GIB, 3],
  ['more memory than the node has is requested', 'Burstable', 2n ** 63n - 1n, 1n, 3],
  ['an unknown capacity', 'Burstable', GIB, 0n, 999],
  ['a negative request', 'Burstable', -GIB, 8n * GIB, 999],
])('%s', (_rule, qosClass, request, capacity, score) => {
  expect(qosOomScoreAdj(qosClass, request, capacity)).toBe(score);
});
