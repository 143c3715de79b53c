import type { Policy } from '../../core/decide/state.js';
import type { TimedPause } from '../../core/message/pause-message.js';
import { amountOfResource } from '../../core/quantity/amount.js';
import { comparatorsOf, decidingComparator, type ComparatorName, type RankComparator } from '../../core/rank/rank-comparators.js';
import { protectionText, turnNumbers, type RankedWorkload } from '../../core/rank/rank.js';
import { SIGNAL_FACTS, type ResourceSignal } from '../../core/signal/signal.js';
import { isBelow } from '../../core/workload/cgroup.js';
import type { Protection, Workload } from '../../core/workload/workload.js';
import type { NeighbourExplanation, WorkloadExplanation } from './explanation.js';

/** The places where the rules that match a workload set a key: 'rules[0].critical (/etc/evictd/config.yaml:3:15)'. */
export type SettingsOf = (workload: Workload, key: 'critical' | 'priority' | 'requests.memory') => readonly string[];

interface RankedMoment {
  readonly signal: ResourceSignal;
  readonly policy: Pick<Policy, 'departures'>;
  readonly pauses: readonly TimedPause[];
  readonly ranking: readonly RankedWorkload[];
  readonly settingsOf: SettingsOf;
}

/** Its place, what decides it, and what would change it. */
export function explainWorkload(moment: RankedMoment, item: RankedWorkload): WorkloadExplanation {
  const { signal, policy, ranking, settingsOf } = moment;
  const comparators = comparatorsOf(signal, policy.departures);
  const { workload, protection } = item;
  const compared = ranking.filter((other) => other.protection === undefined || other === item);
  const index = compared.indexOf(item);
  const [before, after] = [compared[index - 1], compared[index + 1]];
  const placeOf = turnNumbers(ranking);
  const values = (of: RankedWorkload | undefined, { valueOf }: RankComparator): string | null => (of ? valueOf(of) : null);
  return {
    name: workload.name,
    path: workload.path,
    place: placeOf.get(item) ?? null,
    of: placeOf.size,
    evictedBefore: index,
    comparators: comparators.map((comparator) => ({
      comparator: comparator.name,
      value: comparator.valueOf(item),
      before: values(before, comparator),
      after: values(after, comparator),
    })),
    before: neighbour(comparators, before, item, placeOf),
    after: neighbour(comparators, after, item, placeOf),
    protection: protection
      ? {
          kind: protection.kind,
          because: protectionText(protection),
          setBy: protection.kind === 'critical' ? settingsOf(workload, 'critical') : [],
        }
      : null,
    wouldChange: protection ? wouldLift(protection, item, moment) : wouldMove(comparators, before, item, after, moment),
  };
}

function neighbour(
  comparators: readonly RankComparator[],
  other: RankedWorkload | undefined,
  item: RankedWorkload,
  placeOf: ReadonlyMap<RankedWorkload, number>,
): NeighbourExplanation | null {
  const place = other && placeOf.get(other);
  if (other === undefined || place === undefined) return null;
  return { name: other.workload.name, place, decidedBy: decidingComparator(comparators, other, item)?.name ?? null };
}

/** What ends each kind of protection. Left out: nothing that an operator sets. */
const LIFTS: Partial<Record<Protection['kind'], string>> = {
  unit: 'a rule with the full name of the unit and `critical: false` lifts the built-in protection',
  omit: 'ManagedOOMPreference=none for the unit (systemctl set-property)',
  self: 'nothing: evictd never ends itself or what it runs in',
  system: 'nothing: Windows needs it',
  contains: 'the protection of what it contains',
  kubelet: 'nothing here: the kubelet evicts its pods itself',
  static: 'nothing: a static pod would be started again',
  vacant: 'a process in it',
  outside: 'a threshold of the whole node instead of one of another cgroup',
  budget: 'time, a larger evictionBudget, or `evictd resume`',
  'kill-failed': 'time: evictd tries it again after a pause',
  'no-yield': 'growth of this workload, relief, or `evictd resume`',
  'frees-nothing': 'a larger share of what is missing',
  measuring: 'time: the measurement goes on',
  unreported: 'the answer of the container runtime',
  unlisted: 'permission to list its processes, or the answer of systemd',
  changed: 'the next reading',
  'protected-dependant': 'a dependency of another kind between the units',
  'emergency-action': 'another FailureAction= or SuccessAction= of the unit',
};

function wouldLift(protection: Protection, { workload }: RankedWorkload, { pauses, settingsOf }: RankedMoment): readonly string[] {
  if (protection.kind === 'paused') {
    const ends = pauses.flatMap(({ workload: paused, endsLocal }) =>
      paused && (paused.path === workload.path || isBelow(workload.path, paused.path)) ? [endsLocal] : [],
    );
    return [`the end of its pause${ends.map((end) => ` at ${end}`).join(' and')}, or \`evictd resume\``];
  }
  if (protection.kind !== 'critical') return [LIFTS[protection.kind] ?? 'nothing that the configuration sets'];
  const setBy = settingsOf(workload, 'critical');
  return [setBy.length === 0 ? 'it is critical by its Kubernetes priority' : `without ${setBy.join(' and ')} it is not protected`];
}

interface Neighbours {
  readonly before: RankedWorkload | undefined;
  readonly after: RankedWorkload | undefined;
}
type Change = (item: RankedWorkload, neighbours: Neighbours, moment: RankedMoment) => { readonly sooner?: string; readonly later?: string };

/** What would change the order, by the comparator that decides between the workload and a neighbour. */
const CHANGES: Partial<Record<ComparatorName, Change>> = {
  'exceeds-request': ({ usage, stays = 0n }, _neighbours, { signal }) => {
    const { resource } = SIGNAL_FACTS[signal];
    const used = usage === undefined ? 'its usage' : amountOfResource(resource, usage - stays);
    return { later: `a request of at least ${used}`, sooner: `a usage above its request` };
  },
  priority: (_item, { before, after }) => ({
    ...(after && { later: `a priority above ${String(after.priority)}` }),
    ...(before && { sooner: `a priority below ${String(before.priority)}` }),
  }),
  'above-request': (_item, { before, after }, { signal }) => {
    const over = (of: RankedWorkload): string => amountOfResource(SIGNAL_FACTS[signal].resource, of.aboveRequestNano / 1_000_000_000n);
    return {
      ...(after && { later: `less than ${over(after)} above its request, or a higher priority` }),
      ...(before && { sooner: `more than ${over(before)} above its request, or a lower priority` }),
    };
  },
};

function wouldMove(
  comparators: readonly RankComparator[],
  before: RankedWorkload | undefined,
  item: RankedWorkload,
  after: RankedWorkload | undefined,
  moment: RankedMoment,
): readonly string[] {
  const of = (other: RankedWorkload | undefined): Change | undefined => {
    const name = other && decidingComparator(comparators, other, item)?.name;
    return name && (CHANGES[name] ?? CHANGES.priority);
  };
  const { sooner } = of(before)?.(item, { before, after }, moment) ?? {};
  const { later } = of(after)?.(item, { before, after }, moment) ?? {};
  const set = moment.settingsOf(item.workload, 'priority');
  return [
    ...(sooner ? [`sooner: ${sooner}`] : []),
    ...(later ? [`later: ${later}`] : []),
    'never: a rule with critical: true',
    ...(set.length === 0 ? [] : [`its priority is set by ${set.join(', ')}`]),
  ];
}
