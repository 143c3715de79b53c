import { fc } from '../../support/property.js';
import { describe, expect, test } from 'vitest';
import type { Effect } from '../../../src/core/decide/effect.js';
import type { PolicyScope } from '../../../src/core/ladder/policy-state.js';
import { initialState, type Policy, type State } from '../../../src/core/decide/state.js';
import { step } from '../../../src/core/decide/step.js';
import type { ConfiguredPolicy, LadderStep } from '../../../src/core/policy/configured-policy.js';
import type { PolicyResult } from '../../../src/core/policy/policy-action.js';
import type { RawValue } from '../../../src/core/policy/raw-value.js';
import type { ScopeReading } from '../../../src/core/policy/scope-reading.js';
import { candidates, input, Mi, observations, policy, SECOND, threshold, workload } from '../support.js';
import { condition, FREEZE, KILL, NOTIFY, ofCgroup, reading, STOP, THROTTLE } from './policies.js';

const PATHS = ['/a/1', '/a/2', '/a/2/x', '/b/1'] as const;

const anyStep = fc.constantFrom<LadderStep>(
  NOTIFY,
  { kind: 'run', command: ['/bin/true'], timeoutNs: 3n * SECOND },
  { kind: 'reclaim', memoryBytes: Mi, withinNs: 2n * SECOND },
  THROTTLE,
  FREEZE,
  STOP,
  { ...KILL, by: ['growth', 'size'], recursive: true },
);

const anyPolicy: fc.Arbitrary<ConfiguredPolicy> = fc
  .record({
    name: fc.constantFrom('p', 'q'),
    then: fc.array(anyStep, { minLength: 1, maxLength: 5 }),
    forNs: fc.constantFrom(0n, 2n * SECOND),
    cooldownNs: fc.constantFrom(0n, 5n * SECOND),
    isOfNode: fc.boolean(),
  })
  .map(({ isOfNode, then, ...rest }) => {
    const { scope: _, ...ofNode } = ofCgroup(then, { ...rest, when: condition('memory.available < 300Mi', 'node') });
    return isOfNode ? ofNode : ofCgroup(then, rest);
  });

/** What a step is given: readings, results of actions, requests of an operator. */
interface StepInputs {
  readonly afterSeconds: number;
  readonly available: bigint;
  readonly scopes: 'read' | 'gone' | 'unread' | 'other';
  readonly uses: number;
  readonly shuttingDown: boolean;
  readonly stalled: boolean;
  readonly protect: readonly string[];
  readonly victims: 'dying' | 'ended' | 'failed';
  readonly result: PolicyResult['result'] | undefined;
  readonly request: 'pause' | 'resume' | undefined;
}

const anyInput: fc.Arbitrary<StepInputs> = fc.record({
  afterSeconds: fc.constantFrom(1, 1, 2, 5, 31),
  available: fc.constantFrom(500n, 500n, 200n, 200n, 50n),
  scopes: fc.constantFrom<StepInputs['scopes']>('read', 'read', 'read', 'read', 'gone', 'unread', 'other'),
  uses: fc.constantFrom(90, 110, 110, 110),
  shuttingDown: fc.constantFrom(false, false, false, false, true),
  stalled: fc.boolean(),
  protect: fc.subarray([...PATHS], { maxLength: 2 }),
  victims: fc.constantFrom<StepInputs['victims']>('dying', 'ended', 'failed'),
  result: fc.constantFrom<StepInputs['result']>(undefined, 'done', 'failed', 'timed-out'),
  request: fc.constantFrom<StepInputs['request']>(undefined, undefined, undefined, undefined, undefined, 'pause', 'resume'),
});

/** A step that was taken. */
interface Taken {
  readonly inputs: StepInputs;
  readonly before: State;
  readonly after: State;
  readonly effects: readonly Effect[];
}

/** At the end all policies are removed. A step that sends a signal leaves them to the next one, so that there are two. */
function run(configured: readonly ConfiguredPolicy[], timeline: readonly StepInputs[], rest: Partial<Policy> = {}): Taken[] {
  let state = initialState;
  let nowNs = 1_000n * SECOND;
  const own = configured.filter((one, index) => configured.findIndex(({ name }) => name === one.name) === index);
  const last: StepInputs = { ...quiet, shuttingDown: false };
  return [...timeline, last, last].map((inputs, index) => {
    nowNs += BigInt(inputs.afterSeconds) * SECOND;
    const before = state;
    const policies = index >= timeline.length ? [] : own;
    const set = policy([threshold('memory.available', '100Mi')], { policies, ...(inputs.shuttingDown && { shuttingDown: true }), ...rest });
    const next = step(set, before, inputOf(inputs, before, nowNs));
    state = next.state;
    return { inputs, before, after: state, effects: next.effects };
  });
}

const quiet: StepInputs = {
  ...{ afterSeconds: 1, available: 500n, scopes: 'read', uses: 110, shuttingDown: false, stalled: false },
  ...{ protect: [], victims: 'dying', result: undefined, request: undefined },
};

/** The scope whose action answers. */
function runningIn({ policies: { scopes } }: State): PolicyScope | undefined {
  return [...scopes.values()].find(({ ladder }) => ladder !== undefined);
}

function inputOf(inputs: StepInputs, before: State, nowNs: bigint) {
  const scope = reading('/a', nowNs, { 'memory.current': inputs.uses * 1024 }, inputs.scopes === 'other' ? 2n : 1n);
  const scopes = new Map(['p', 'q'].map((name) => [name, inputs.scopes === 'gone' ? [] : [scope]]));
  const all = PATHS.map((path, index) => {
    const one = workload(path, { path, ...(inputs.protect.includes(path) && { protection: { kind: 'critical' } as const }) });
    return [one, BigInt(100 + index) * Mi] as [typeof one, bigint];
  });
  const values = (path: string): Partial<Record<RawValue, number>> => ({
    'memory.current': PATHS.findIndex((one) => one === path) * 1024 * 1024,
    'memory.pressure.full.total': inputs.stalled ? Number(nowNs / 1_000n) : 0,
  });
  const ended = inputs.victims === 'ended';
  const sample = { processes: ended ? 0 : 1, usageBytes: ended ? 0n : Mi, removed: ended, vanished: false, signalledAtNs: undefined };
  const victim = { ...sample, error: inputs.victims === 'failed' ? 'EPERM' : undefined };
  const running = runningIn(before);
  const result = inputs.result;
  return input(nowNs, observations(nowNs, { 'memory.available': inputs.available * Mi }), {
    candidates: () => candidates(...all),
    victims: new Map(before.evictions.map(({ decision }) => [decision.serial, victim])),
    policyReadings: () => (inputs.scopes === 'unread' ? undefined : { scopes }),
    bootNs: nowNs,
    ...(inputs.request === 'pause' && { pause: { forNs: 10n * SECOND, reason: 'test' } }),
    ...(inputs.request === 'resume' && { resumed: {} }),
    policyWorkloads: (paths): readonly ScopeReading[] => paths.map((path) => reading(path, nowNs, values(path))),
    ...(result &&
      running && {
        policyResults: (['run', 'reclaim', 'throttle', 'freeze'] as const).map((action) => ({
          ...{ policy: running.policy, scope: running.scope, action, result },
        })),
      }),
  });
}

const policies = fc.array(anyPolicy, { minLength: 1, maxLength: 2 });
const timelines = fc.array(anyInput, { minLength: 1, maxLength: 25 });
const everyRun = (check: (steps: readonly Taken[], configured: readonly ConfiguredPolicy[]) => void, rest: Partial<Policy> = {}): void => {
  fc.assert(
    fc.property(policies, timelines, (configured, timeline) => {
      check(run(configured, timeline, rest), configured);
    }),
    { numRuns: 200 },
  );
};

const acts = ({ effects }: Taken) => effects.flatMap((effect) => (effect.kind === 'policy' ? [effect] : []));
const held = (effect: ReturnType<typeof acts>[number]): string | undefined => {
  if (effect.action === 'throttle' || effect.action === 'unthrottle') return `throttle ${effect.target.id}`;
  return effect.action === 'freeze' || effect.action === 'thaw' ? `freeze ${effect.target.id}` : undefined;
};

describe('for any policies and readings', () => {
  test('during a pause no workload is evicted, throttled or frozen, and no program is run', () => {
    everyRun((steps) => {
      for (const one of steps.filter(({ after }) => after.pauses.size > 0)) {
        expect(one.effects.filter(({ kind }) => kind === 'evict')).toEqual([]);
        expect(acts(one).filter(({ action }) => !['notify', 'unthrottle', 'thaw'].includes(action))).toEqual([]);
        expect(one.after.policies.restraints).toEqual([]);
      }
    });
  });

  test('no workload outside the scope is evicted, throttled or frozen for a policy', () => {
    everyRun((steps) => {
      for (const one of steps) {
        for (const effect of one.effects) {
          const [scope, path] =
            effect.kind === 'evict' && effect.decision.cause.kind === 'policy'
              ? [effect.decision.cause.scope, effect.decision.victim.workload.path]
              : effect.kind === 'policy' && 'target' in effect
                ? [effect.scope, effect.target.path]
                : ['', '/'];
          expect(`${path}/`.startsWith(`${scope}/`)).toBe(true);
        }
      }
    });
  });

  test('no protected workload is evicted, throttled or frozen', () => {
    everyRun((steps) => {
      for (const one of steps) {
        const paths = one.effects.flatMap((effect) => {
          if (effect.kind === 'evict') return [effect.decision.victim.workload.path];
          return effect.kind === 'policy' && (effect.action === 'throttle' || effect.action === 'freeze') ? [effect.target.path] : [];
        });
        for (const path of paths) expect(one.inputs.protect).not.toContain(path);
      }
    });
  });

  test('a throttled or frozen workload is released once when the run ends, unless throttling failed', () => {
    everyRun((steps) => {
      const standing = new Map<string, number>();
      for (const one of steps) {
        // What could not be throttled or frozen is not held.
        const failed = one.inputs.result === 'failed' ? runningIn(one.before) : undefined;
        for (const { policy: name, scope, action, target } of one.before.policies.restraints) {
          if (failed?.policy === name && failed.scope === scope) standing.delete(`${action} ${target.id}`);
        }
        for (const effect of acts(one)) {
          const key = held(effect);
          if (key === undefined) continue;
          standing.set(key, (standing.get(key) ?? 0) + ('reason' in effect ? -1 : 1));
          expect(standing.get(key)).toBeGreaterThanOrEqual(0);
          expect(standing.get(key)).toBeLessThanOrEqual(1);
        }
        const left = new Set(one.after.policies.restraints.map(({ action, target }) => `${action} ${target.id}`));
        expect(new Set([...standing].flatMap(([key, times]) => (times > 0 ? [key] : [])))).toEqual(left);
      }
      expect(steps.at(-1)?.after.policies.restraints).toEqual([]);
      expect([...(steps.at(-1)?.after.policies.scopes.keys() ?? [])]).toEqual([]);
    });
  });

  test('a workload that is evicted is not throttled or frozen any more', () => {
    everyRun((steps) => {
      for (const one of steps) {
        for (const { decision } of one.after.evictions) {
          const { path } = decision.victim.workload;
          for (const { target } of one.after.policies.restraints) expect(`${target.path}/`.startsWith(`${path}/`)).toBe(false);
        }
      }
    });
  });

  test('two victims for memory are never in flight at once, and the budget is never exceeded', () => {
    everyRun(
      (steps) => {
        for (const { after } of steps) expect(after.evictions.length).toBeLessThanOrEqual(1);
        const effects = steps.flatMap((one) => one.effects);
        const failed = effects.flatMap((effect) =>
          effect.kind === 'outcome' && effect.outcome.result === 'failed' ? effect.outcome.decision.serial : [],
        );
        // Repeated evictions of one workload count once; after `evictd resume` the budget counts anew.
        const victims = new Set<string>();
        for (const effect of effects) {
          if (effect.kind === 'resume') victims.clear();
          if (effect.kind === 'evict' && !failed.includes(effect.decision.serial)) victims.add(effect.decision.victim.workload.path);
          expect(victims.size).toBeLessThanOrEqual(2);
        }
      },
      { evictionBudget: { max: 2, windowNs: 86_400n * SECOND, bands: [] } },
    );
  });

  test('the same inputs give the same effects', () => {
    everyRun((steps, configured) => {
      const again = run(
        configured,
        steps.slice(0, -2).map(({ inputs }) => inputs),
      );
      expect(again.map(({ effects }) => effects)).toEqual(steps.map(({ effects }) => effects));
    });
  });

  test('a dry run throttles, freezes and evicts nothing', () => {
    everyRun(
      (steps) => {
        for (const one of steps) {
          expect(one.after.policies.restraints).toEqual([]);
          expect(one.after.evictions).toEqual([]);
          for (const effect of acts(one)) expect(effect.dryRun).toBe(true);
        }
      },
      { dryRun: true },
    );
  });

  test('a threshold that is due evicts in the step in which it would without policies', () => {
    everyRun((steps) => {
      for (const { inputs, before, after, effects } of steps) {
        if (after.pauses.size > 0 || inputs.available !== 50n || before.evictions.length > 0 || inputs.shuttingDown) continue;
        const isPaused = before.withoutYield.size > 0 || before.failedKills.size > 0 || before.baselines.size > 0;
        if (!isPaused) expect(effects.some((effect) => effect.kind === 'evict' && effect.decision.cause.kind === 'threshold')).toBe(true);
      }
    });
  });
});
