import { fc } from '../../support/property.js';
import { describe, expect, test } from 'vitest';
import { parseThresholdValue } from '../../../src/config/resolve/thresholds.js';
import type { Effect } from '../../../src/core/decide/effect.js';
import { isPressure, isResourceSignal } from '../../../src/core/signal/signal.js';
import { initialState, type Policy, type State } from '../../../src/core/decide/state.js';
import { step } from '../../../src/core/decide/step.js';
import { operandMet, resolve, thresholdKind, valueText } from '../../../src/core/threshold/threshold.js';
import { anyPolicy, anyThreshold, anyStepInputs, type StepInputs } from '../arbitrary.js';
import { candidates, input, policy, SECOND, threshold, without, workload } from '../support.js';
import { Timeline } from '../timeline.js';

interface Made {
  readonly inputs: StepInputs;
  readonly nowNs: bigint;
  readonly before: State;
  readonly after: State;
  readonly effects: readonly Effect[];
}

/** Runs a timeline; every victim gets the reading that was drawn, and collections are over when it was drawn. */
function run(policy: Policy, timeline: readonly StepInputs[]): Made[] {
  let state = initialState;
  let nowNs = 1_000n * SECOND;
  return timeline.map((inputs) => {
    nowNs += inputs.afterNs;
    const before = state;
    const { reading, observed } = inputs;
    const made = step(
      policy,
      before,
      input(nowNs, observed && { observed, missing: new Map() }, {
        layout: inputs.layout,
        victims: new Map(reading ? before.evictions.map(({ decision }) => [decision.serial, reading]) : []),
        reclaimed: inputs.reclaimed && before.reclaiming ? { errors: [] } : undefined,
        candidates: () => inputs.candidates,
      }),
    );
    state = made.state;
    return { inputs, nowNs, before, after: state, effects: made.effects };
  });
}

const timelines = fc.array(anyStepInputs, { minLength: 1, maxLength: 12 });
const everyStep = (check: (made: Made, policy: Policy) => void): void => {
  fc.assert(
    fc.property(anyPolicy, timelines, (drawn, timeline) => {
      for (const made of run(drawn, timeline)) check(made, drawn);
    }),
    { numRuns: 400 },
  );
};
const decisions = ({ effects }: Made) => effects.flatMap((effect) => (effect.kind === 'evict' ? [effect.decision] : []));

describe('for any input', () => {
  test('a step never throws', () => {
    everyStep(() => undefined);
  });

  test('a protected workload is never evicted', () => {
    everyStep((made) => {
      for (const { victim } of decisions(made)) expect(victim.protection).toBeUndefined();
    });
  });

  test('two evictions are never in flight for one resource, unless limits of their own are exceeded', () => {
    everyStep(({ after }) => {
      const resources = after.evictions
        .filter(({ decision }) => decision.cause.kind === 'threshold')
        .map(({ decision }) => decision.resource);
      expect(new Set(resources).size).toBe(resources.length);
    });
  });

  test('no workload is evicted for a resource whose victim is dying or whose collections run', () => {
    everyStep((made) => {
      const still = new Set(
        made.after.evictions.filter(({ decision }) => decision.serial <= made.before.decisions).map(({ decision }) => decision.resource),
      );
      for (const { cause, resource } of decisions(made)) if (cause.kind === 'threshold') expect(still.has(resource)).toBe(false);
    });
  });

  test('every eviction is for a threshold whose reading is below its limit', () => {
    everyStep((made) => {
      for (const { cause } of decisions(made)) {
        // a share of a negative capacity, or one that no int64 holds, is negative, and lowers the limit
        if (cause.kind === 'threshold' && cause.observation.capacity >= 0n && cause.observation.capacity < 2n ** 62n)
          expect(cause.observation.available)[isPressure(cause.threshold.signal) ? 'toBeGreaterThan' : 'toBeLessThan'](cause.limit);
      }
    });
  });

  test('no workload is evicted for joined operands of which one is not met, or for pressure of io or cpu', () => {
    everyStep((made) => {
      for (const { cause } of decisions(made)) {
        if (cause.kind !== 'threshold') continue;
        expect(isResourceSignal(cause.threshold.signal)).toBe(true);
        expect(cause.joined?.length ?? 0).toBe(cause.threshold.also?.length ?? 0);
        for (const { operand, observation } of cause.joined ?? []) expect(observation && operandMet(operand, observation)).toBe(true);
      }
    });
  });

  test('the same steps end the same way', () => {
    fc.assert(
      fc.property(anyPolicy, timelines, (drawn, timeline) => {
        expect(run(drawn, timeline)).toEqual(run(drawn, timeline));
      }),
    );
  });

  test('a dry run has no eviction in flight and collects nothing', () => {
    everyStep(({ after }, drawn) => {
      if (drawn.dryRun) expect([after.evictions, after.reclaiming]).toEqual([[], undefined]);
    });
  });

  test('candidates are not read where no threshold is met', () => {
    everyStep(({ inputs, nowNs, before, after }, drawn) => {
      if (after.episodes.size > 0 || before.reclaiming || drawn.localStorageCapacityIsolation) return;
      let asked = 0;
      const observed = inputs.observed && { observed: inputs.observed, missing: new Map() };
      const again = input(nowNs, observed, { layout: inputs.layout, candidates: () => ((asked += 1), inputs.candidates) });
      step(drawn, before, again);
      expect(asked).toBe(0);
    });
  });
});

/** The threshold is met (true) or not at each of these seconds. */
const mets = fc.array(fc.tuple(fc.integer({ min: 1, max: 25 }), fc.boolean()), { minLength: 1, maxLength: 40 });

test('no workload is evicted before a soft threshold has been met for its whole grace period, without a break', () => {
  const graceSeconds = 60;
  const soft = policy([threshold('memory.available', '10', { graceSeconds })], { departures: without('node-yield') });
  fc.assert(
    fc.property(mets, (steps) => {
      const timeline = new Timeline(soft, candidates([workload('batch'), 1n]));
      let now = 0;
      let since: number | undefined;
      for (const [after, met] of steps) {
        now += after;
        since = met ? (since ?? now) : undefined;
        const evicts = timeline.at(now, { 'memory.available': met ? 9n : 10n }, victimsGone(timeline)).some(({ kind }) => kind === 'evict');
        expect(evicts).toBe(since !== undefined && now - since >= graceSeconds);
      }
    }),
  );
});

test('a condition clears exactly when the transition period is over', () => {
  fc.assert(
    fc.property(mets, fc.integer({ min: 1, max: 60 }), (steps, periodSeconds) => {
      const timeline = new Timeline(
        policy([threshold('memory.available', '10')], {
          pressureTransitionPeriodNs: BigInt(periodSeconds) * SECOND,
          hasWorkloadSource: false,
        }),
        candidates(),
      );
      let now = 0;
      let last: number | undefined;
      for (const [after, met] of steps) {
        now += after;
        if (met) last = now;
        timeline.at(now, { 'memory.available': met ? 9n : 10n });
        expect(timeline.state.conditions.length > 0).toBe(last !== undefined && now - last < periodSeconds);
      }
    }),
  );
});

test('a printed threshold parses to the same threshold', () => {
  fc.assert(
    fc.property(anyThreshold, fc.bigInt(0n, 2n ** 63n), ({ signal, value }, capacity) => {
      const again = parseThresholdValue(signal, valueText(value));
      expect(again && resolve(again, capacity)).toBe(resolve(value, capacity));
      expect(again && valueText(again)).toBe(valueText(value));
    }),
  );
});

test('a threshold is hard or soft by its grace period alone, unless an entry of the list says which', () => {
  fc.assert(
    fc.property(anyThreshold, (drawn) => {
      expect(thresholdKind(drawn)).toBe(drawn.kind ?? (drawn.gracePeriodNs === 0n ? 'hard' : 'soft'));
    }),
  );
});

function victimsGone({ state }: Timeline): Record<number, object> {
  return Object.fromEntries(state.evictions.map(({ decision }) => [decision.serial, { processes: 0, usageBytes: 0n, removed: true }]));
}
