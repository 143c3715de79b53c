import { expect, test } from 'vitest';
import type { PolicyAct, RestraintLift } from '../../../src/core/policy/policy-action.js';
import { journalLine } from '../../../src/journal/records/record.js';
import { policy, policyEnd } from '../../../src/monitor/effects/policy.js';

const SECOND = 1_000_000_000n;
const target = { id: '7', name: 'db', path: '/a/db' };
const CONTEXT = { wake: { source: 'tick', atNs: 0n }, timesOf: () => undefined } as const;
const reason = { policy: 'p', scope: '/a', condition: 'swap.available < 10%', values: { 'swap.available': 5 } };

test.each<[act: PolicyAct | RestraintLift, fields: Record<string, unknown>]>([
  [{ action: 'notify' }, {}],
  [
    {
      ...{ action: 'run', command: ['/bin/a', 'b'], timeoutNs: 10n * SECOND },
      steps: [{ action: 'reclaim', tookNs: 5n * SECOND, gainedBytes: 300n }],
    },
    { command: ['/bin/a', 'b'], timeoutSeconds: 10, steps: [{ action: 'reclaim', tookSeconds: 5, gainedBytes: 300 }] },
  ],
  [
    { action: 'reclaim', memoryBytes: 200n, withinNs: 5n * SECOND, targets: [{ ...target, excessBytes: 300n }] },
    { memoryBytes: 200, withinSeconds: 5, targets: [{ ...target, excessBytes: 300 }] },
  ],
  [
    { action: 'throttle', target, memoryHigh: { kind: 'quantity', bytes: 500n }, forNs: SECOND },
    { target, memoryHigh: { kind: 'quantity', bytes: 500 }, forSeconds: 1 },
  ],
  [
    { action: 'throttle', target, memoryHigh: { kind: 'share', ratio: 0.9 }, forNs: SECOND },
    { target, memoryHigh: { kind: 'share', ratio: 0.9 }, forSeconds: 1 },
  ],
  [
    { action: 'freeze', target, forNs: 5n * SECOND },
    { target, forSeconds: 5 },
  ],
  [
    { action: 'thaw', target, reason: 'time' },
    { target, reason: 'time' },
  ],
])('the journal record has bytes and seconds as numbers: %o', (act, fields) => {
  const effect = { kind: 'policy', dryRun: false, ...reason, ...act } as const;
  const { message, ...record } = policy.record?.(effect, CONTEXT) ?? {
    type: '',
    message: '',
  };
  const line: unknown = JSON.parse(journalLine({ message, ...record }, { node: 'machine', dryRun: false }));
  expect(line).toMatchObject({ type: 'policy', event: 'act', ...reason, action: act.action, message });
  expect(record).toEqual({ type: 'policy', event: 'act', ...reason, action: act.action, ...fields });
});

test('the record of the end of a ladder has bytes and seconds of each step', () => {
  const steps = [
    { action: 'notify', tookNs: 0n },
    { action: 'run', tookNs: 2n * SECOND + 7n, gainedBytes: -5n },
  ] as const;
  const effect = { kind: 'policy-end', policy: 'p', scope: '', reason: 'relieved', steps, tookNs: 2n * SECOND } as const;
  const record = policyEnd.record?.(effect, CONTEXT) ?? { type: '', message: '' };
  expect(JSON.parse(journalLine(record, { node: 'machine', dryRun: false }))).toMatchObject({
    lastAction: 'run',
    steps: [
      { action: 'notify', tookSeconds: 0 },
      { action: 'run', tookSeconds: 2, gainedBytes: -5 },
    ],
  });
});
