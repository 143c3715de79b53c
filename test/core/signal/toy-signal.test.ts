import { describe, expect, test, vi } from 'vitest';
import { whenOperands } from '../../../src/config/resolve/listed-thresholds.js';
import { checkPressure } from '../../../src/core/threshold/check-status.js';
import { decisionMessage } from '../../../src/core/message/message.js';
import type * as list from '../../../src/core/signal/signal-list.js';
import type { SignalDefinition } from '../../../src/core/signal/signal-definition.js';
import { AMOUNT_SIGNALS, isKubeletSignal, isSignal, SIGNALS, type Signal } from '../../../src/core/signal/signal.js';
import { whenText } from '../../../src/core/threshold/threshold.js';
import { candidates, observations, policy, threshold, workload } from '../support.js';
import { Timeline } from '../timeline.js';

/**
 * One definition and one line in the list: a toy that counts toys, more of which is worse, and that ranks by the length
 * of the name.
 */
vi.mock('../../../src/core/signal/signal-list.js', async (original) => {
  const toy: SignalDefinition = {
    name: 'toy.count',
    operator: '>',
    unit: 'processes',
    kubelet: false,
    resource: 'pids',
    condition: 'PIDPressure',
    measure: () => ({ usage: ({ name }) => BigInt(name.length), requestNano: () => 0n, subtractedNano: () => 0n }),
    absentOnWindows: 'Windows has no toys',
  };
  return { SIGNAL_LIST: [...(await original<typeof list>()).SIGNAL_LIST, toy] };
});

const TOY = 'toy.count' as Signal;

describe('a signal that is added to the list', () => {
  test('is in the list of signals, is accepted in maps of thresholds, and is unknown to the kubelet', () => {
    expect([SIGNALS.at(-1), AMOUNT_SIGNALS.includes(TOY as never), isSignal(TOY), isKubeletSignal(TOY)]).toEqual([TOY, true, true, false]);
  });

  test('is compared with its own operator in a threshold of the configuration', () => {
    const [toy] = whenOperands('toy.count>5');
    expect(whenText({ ...toy, gracePeriodNs: 0n, minReclaim: undefined })).toBe('toy.count>5');
    expect(() => whenOperands('toy.count<5')).toThrow('< is the wrong operator for toy.count');
  });

  test('sets its condition, and evicts the workload that ranks first by its own comparison', () => {
    const found = candidates([workload('short'), 900n], [workload('a-longer-name'), 1n]);
    const effects = new Timeline(policy([threshold(TOY, '5')]), found).at(0, { [TOY]: 6n });
    expect(effects).toContainEqual({ kind: 'condition', type: 'PIDPressure', status: true });
    const decisions = effects.flatMap((effect) => (effect.kind === 'evict' ? decisionMessage(effect.decision) : []));
    expect(decisions).toEqual([
      'evicting a-longer-name with SIGKILL: toy.count 6 processes > 5 (hard); a-longer-name uses 13 processes, priority 0',
    ]);
  });

  test('appears in the output of a check', () => {
    const { status, conditions } = checkPressure(observations(0n, { [TOY]: 5n }), [threshold(TOY, '5')]);
    expect([status, conditions]).toEqual(['ok', [{ type: 'PIDPressure', status: false }]]);
  });
});
