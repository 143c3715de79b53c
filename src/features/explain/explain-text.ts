import { budgetStatusText } from '../../core/disruption/disruption-budget.js';
import { printable } from '../../core/name/printable.js';
import type { Style } from '../../cli/output/style.js';
import { table } from '../../cli/output/table.js';
import type { Explanation, NeighbourExplanation, WorkloadExplanation } from './explanation.js';

/** The signals, what evicts nothing and why, and the workload that was asked for. */
export function explanationText(explanation: Explanation, style: Style): string {
  const { source, node, signal, thresholds, hasThreshold, policies, nearest, blockers, next, workload } = explanation;
  const isDue = blockers.length === 0 && thresholds.some(({ met }) => met === true);
  const thresholdLine = ({ kind, met, clauses, why }: Explanation['thresholds'][number]): string => {
    const line = printable(`  ${clauses.map(({ text }) => text).join(' & ')} (${kind}): ${why}`);
    return met === true ? style(kind === 'hard' ? 'red' : 'yellow', line) : line;
  };
  const lines = [
    ...(workload ? [...workloadLines(workload, style), ''] : []),
    ...(source === 'evictd'
      ? [`${node}, as the running evictd sees it`]
      : [`no evictd guards this node (${node}): values are read now; grace periods, budget, pauses, policies and growth are not known`]),
    ...thresholds.map(thresholdLine),
    ...policies.map(({ name, scope, condition, readings, why }) =>
      printable(`  policy ${name}${scope === '' ? '' : ` on ${scope}`}: ${condition}${readings === null ? '' : ` (${readings})`}: ${why}`),
    ),
    ...(nearest ? [`nearest: ${nearest.when}, ${nearest.left} left`] : []),
    ...(blockers.length > 0 ? ['nothing is evicted now:', ...blockers.map((blocker) => printable(`  ${blocker}`))] : []),
    ...(isDue || blockers.length > 0 ? [] : ['nothing is evicted now: no threshold is met']),
    ...(hasThreshold ? [] : [`${signal} has no threshold: evictd evicts nothing for it (set evictionHard.${signal})`]),
    ...(next ? [printable(`first for ${signal}: ${next.name}, which ${next.because}`)] : []),
  ];
  return `${lines.join('\n')}\n`;
}

/** Comparators that repeat the heading where they decide nothing. */
const LAST_RESORTS: ReadonlySet<string> = new Set(['name', 'id']);

function workloadLines(workload: WorkloadExplanation, style: Style): string[] {
  const {
    name,
    path,
    place,
    of,
    evictedBefore,
    comparators,
    before,
    after,
    protection,
    wouldChange,
    disruption,
    disruptionBudgets = [],
  } = workload;
  const columns = [
    'COMPARED',
    ...(before ? [`${String(before.place)} ${before.name}`] : []),
    `${String(place ?? '-')} ${name}`,
    ...(after ? [`${String(after.place)} ${after.name}`] : []),
  ];
  const isDecisive = (comparator: string): boolean => [before, after].some((other) => other?.decidedBy === comparator);
  const shown = comparators.filter(({ comparator }) => !LAST_RESORTS.has(comparator) || isDecisive(comparator));
  const rows = shown.map((each) => [
    each.comparator,
    ...(before ? [each.before ?? ''] : []),
    each.value,
    ...(after ? [each.after ?? ''] : []),
  ]);
  const paint = (cell: string, row: number): string => (row === -1 ? style('dim', cell) : cell);
  const decided = (neighbour: NeighbourExplanation | null, text: (other: NeighbourExplanation) => string): string[] =>
    neighbour ? [`${text(neighbour)}${neighbour.decidedBy === null ? '; all values are equal' : ` by ${neighbour.decidedBy}`}`] : [];
  const turn =
    evictedBefore === 0
      ? 'no workload is evicted before it'
      : `${String(evictedBefore)} ${evictedBefore === 1 ? 'is' : 'are'} evicted before it`;
  return [
    ...[
      `${name} (${path}): ${protection ? `never evicted: ${protection.because}` : `place ${String(place)} of ${String(of)}; ${turn}`}`,
      ...(protection?.setBy ?? []).map((each) => `  set by ${each}`),
      ...(disruption === undefined ? [] : [`apart from node pressure: ${disruption}`]),
      ...disruptionBudgets.map(budgetStatusText),
      ...(disruptionBudgets.length > 1 ? ['evictd evict and evictd drain refuse it: it has two disruption budgets, and may have one'] : []),
    ].map(printable),
    '',
    ...table(columns, rows, paint),
    '',
    ...[
      ...decided(before, (other) => `${other.name} ${protection ? 'would come' : 'comes'} before it`),
      ...decided(after, (other) => `it ${protection ? 'would come' : 'comes'} before ${other.name}`),
      'what would change that:',
      ...wouldChange.map((each) => `  ${each}`),
    ].map(printable),
  ];
}
