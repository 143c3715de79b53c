import { departuresOf } from '../../src/core/decide/departures.js';
import type { Layout } from '../../src/core/signal/layout.js';
import { byRank, rank, type RankedWorkload } from '../../src/core/rank/rank.js';
import { isKubeletSignal, type ResourceSignal } from '../../src/core/signal/signal.js';
import { workloadOfPod } from '../../src/kubernetes/pod.js';
import { usagesIn } from '../../src/kubernetes/stats.js';
import { isObject, type Json } from './json.js';
import { VectorFormatError, type Check, type Mismatch } from './vector.js';

const departures = departuresOf('kubelet');

export const checkRank: Check = ({ line }) => {
  const pods = list(line.pods, 'pods').map(workloadOfPod);
  const usages = usagesIn({ pods: list(line.podStats, 'podStats') })(pods);
  return list(line.rankings, 'rankings').flatMap((ranking): Mismatch[] => {
    if (!isObject(ranking)) throw new VectorFormatError('"rankings" must be a list of objects');
    const [layout, signal] = [layoutOf(ranking.layout), signalOf(ranking.signal)];
    const expected = list(ranking.groups, 'groups');
    const got = groupsOf(rank(signal, layout, usages, departures), byRank(signal, layout, departures));
    // A comparison that were not transitive would show in another order of the same pods.
    const reversed = groupsOf(rank(signal, layout, usages.toReversed(), departures), byRank(signal, layout, departures));
    const what = `${signal} in layout ${layout}`;
    return [
      ...(JSON.stringify(got) === JSON.stringify(expected) ? [] : [{ what, expected, got }]),
      ...(JSON.stringify(reversed) === JSON.stringify(got)
        ? []
        : [{ what: `${what}, pods handed over in reverse`, expected: got, got: reversed }]),
    ];
  });
};

/** The names of those that are equal together, sorted. */
function groupsOf(ranked: readonly RankedWorkload[], compare: ReturnType<typeof byRank>): string[][] {
  const groups: RankedWorkload[][] = [];
  for (const item of ranked) {
    const last = groups.at(-1);
    if (last?.[0] && compare(last[0], item) === 0) last.push(item);
    else groups.push([item]);
  }
  return groups.map((group) => group.map(({ workload }) => workload.name).sort());
}

/** null is what Go writes for a list that nothing was put into. */
function list(value: Json | undefined, name: string): readonly Json[] {
  if (value === null) return [];
  if (!Array.isArray(value)) throw new VectorFormatError(`"${name}" must be a list`);
  return value as readonly Json[];
}

/** Left out where it makes no difference. */
function layoutOf(value: Json | undefined): Layout {
  if (value === undefined || value === null || value === '' || value === 'single') return 'single';
  if (value === 'imagefs' || value === 'split') return value;
  throw new VectorFormatError('"layout" must be single, imagefs or split');
}

function signalOf(value: Json | undefined): ResourceSignal {
  if (typeof value !== 'string' || !isKubeletSignal(value))
    throw new VectorFormatError(`"signal" must be a signal, not ${JSON.stringify(value)}`);
  return value;
}
