import { parseThresholdConfig } from './kubelet/threshold-config.js';
import { departuresOf } from '../../src/core/decide/departures.js';
import { parseDuration } from '../../src/core/quantity/duration.js';
import type { VictimReading } from '../../src/core/decide/eviction.js';
import type { StepInput } from '../../src/core/decide/step-input.js';
import type { Layout } from '../../src/core/signal/layout.js';
import { initialState, type Policy, type State } from '../../src/core/decide/state.js';
import { step } from '../../src/core/decide/step.js';
import type { Workload } from '../../src/core/workload/workload.js';
import { workloadOfPod } from '../../src/kubernetes/pod.js';
import { usagesIn } from '../../src/kubernetes/stats.js';
import { makeSignalObservations } from '../../src/kubernetes/summary.js';
import { isObject, printJson, type Json, type JsonObject } from './json.js';
import { outcomeOf } from './sync-outcome.js';
import { Timeline } from './sync-timeline.js';
import { configOf } from './thresholds.js';
import { VectorFormatError, type Check, type Mismatch } from './vector.js';

const SECOND = 1_000_000_000n;
const DEFAULT_TRANSITION_NS = 300n * SECOND;

/**
 * A control loop over a timeline: drives `step` as the monitor does, and compares every step with what the kubelet did.
 */
export const checkSync: Check = ({ line }) => {
  const policy = policyOf(line);
  const pods = new Map(
    list(line.pods)
      .map((pod) => workloadOfPod(pod))
      .map((workload) => [workload.name, workload]),
  );
  const allowed = list(line.expect).map(list);
  const mismatches: Mismatch[] = [];
  let state = initialState;
  for (const [index, described] of list(line.steps).entries()) {
    if (!isObject(described)) throw new VectorFormatError('a step must be an object');
    const timeline = new Timeline(described);
    const made = run(policy, state, layoutOf(line, described), pods, timeline, described);
    const got = outcomeOf(made.effects, made.state, timeline);
    const expected = allowed[index] ?? [];
    if (!expected.some((outcome) => printSorted(outcome) === printSorted(got))) {
      mismatches.push({ what: `step ${index} (at ${printJson(described.at)} s)`, expected, got });
    }
    state = made.state;
  }
  return mismatches;
};

/** The steps of one point in time: the first, and those that go on after collections. */
function run(
  policy: Policy,
  before: State,
  layout: StepInput['layout'],
  pods: ReadonlyMap<string, Workload>,
  timeline: Timeline,
  described: JsonObject,
): Pick<ReturnType<typeof step>, 'state' | 'effects'> {
  const active = list(described.activePods).flatMap((name) => (typeof name === 'string' ? pods.get(name) : undefined) ?? []);
  const input = (victims: StepInput['victims'], reclaimed: StepInput['reclaimed']): StepInput => ({
    nowNs: secondsNs(described.at),
    layout,
    observe: () => {
      const summary = timeline.readSummary();
      return summary === null ? undefined : makeSignalObservations(summary, 'linux');
    },
    victims,
    reclaimed,
    candidates: () => ({ usages: usagesIn(timeline.lastSummary)(active), unreadable: [], timeNs: 0n }),
  });
  let made = step(policy, before, input(new Map(), undefined));
  const effects = [...made.effects];
  for (let reclaim = made.state.reclaiming; reclaim !== undefined; reclaim = made.state.reclaiming) {
    made = step(policy, made.state, input(new Map(), { errors: timeline.collect(reclaim.collections) }));
    effects.push(...made.effects);
  }
  // The kubelet waits for those it killed before it looks at the node again.
  const { state } = step(policy, made.state, { ...input(killsOf(made.state, described), undefined), observe: () => undefined });
  return { state, effects };
}

function killsOf({ evictions }: State, { killErrorPods }: JsonObject): Map<number, VictimReading> {
  const failing = new Set(killErrorPods === undefined ? [] : list(killErrorPods));
  const none = { usageBytes: undefined, vanished: false, signalledAtNs: undefined };
  return new Map(
    evictions.map(({ decision }) => {
      const failed = failing.has(decision.victim.workload.name);
      return [
        decision.serial,
        failed
          ? { ...none, processes: 1, removed: false, error: 'killing failed' }
          : { ...none, processes: 0, removed: true, error: undefined },
      ];
    }),
  );
}

function policyOf(line: JsonObject): Policy {
  const { config } = line;
  if (!isObject(config)) throw new VectorFormatError('"config" must be an object');
  const { evictionPressureTransitionPeriod: period } = config;
  if (typeof period !== 'string') throw new VectorFormatError('"evictionPressureTransitionPeriod" must be a text');
  const transitionNs = parseDuration(period);
  return {
    thresholds: parseThresholdConfig(configOf(line)),
    pressureTransitionPeriodNs: transitionNs === 0n ? DEFAULT_TRANSITION_NS : transitionNs,
    maxPodGracePeriodNs: secondsNs(config.evictionMaxPodGracePeriod),
    departures: departuresOf('kubelet'),
    monitoringIntervalNs: 10n * SECOND,
    hasWorkloadSource: true,
    evictable: new Set(['memory', 'ephemeral-storage', 'inodes', 'pids']),
    collections: new Set(['containers', 'images']),
    localStorageCapacityIsolation: config.localStorageCapacityIsolation === true,
    dryRun: false,
  };
}

/** What the kubelet finds out; not finding a separate container filesystem means that there is none. */
function layoutOf({ layout }: JsonObject, { imageFsDetectionError, containerFsDetectionError }: JsonObject): StepInput['layout'] {
  if (layout !== 'single' && layout !== 'imagefs' && layout !== 'split') throw new VectorFormatError('"layout" is unknown');
  if (imageFsDetectionError === true) return { error: 'image filesystem not known' };
  const known: Layout = layout === 'split' && containerFsDetectionError === true ? 'imagefs' : layout;
  return known;
}

function secondsNs(seconds: Json | undefined): bigint {
  if (typeof seconds === 'bigint') return seconds * SECOND;
  if (typeof seconds !== 'number') throw new VectorFormatError('seconds must be a number');
  return Number.isInteger(seconds) ? BigInt(seconds) * SECOND : BigInt(Math.round(seconds * 1e9));
}

/** null is what Go writes for a list that nothing was put into. */
function list(value: Json | undefined): readonly Json[] {
  if (value === null) return [];
  if (!Array.isArray(value)) throw new VectorFormatError('a list is expected');
  return value as readonly Json[];
}

/** The order of keys never matters. */
function printSorted(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(printSorted).join(',')}]`;
  if (typeof value !== 'object' || value === null) return printJson(value);
  const entries = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{${entries
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${printSorted(member)}`)
    .join(',')}}`;
}
