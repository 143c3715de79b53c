import { selects, type LabelSelector } from '../scheduling/label-selector.js';
import { listOf } from './pod-call.js';

interface Selector {
  readonly matchLabels?: Readonly<Record<string, string>> | null;
  readonly matchExpressions?: unknown;
}

interface Expression {
  readonly key?: string;
  readonly operator?: string;
  readonly values?: unknown;
}

interface Budget {
  readonly metadata?: { readonly namespace?: string; readonly name?: string };
  readonly spec?: { readonly selector?: Selector | null } | null;
  readonly status?: { readonly disruptionsAllowed?: number } | null;
}

/**
 * The budgets of a PodDisruptionBudgetList (policy/v1) that do not permit the eviction of a pod with these labels:
 * 'NAMESPACE/NAME'. A budget with an empty selector is for every pod, and one without a selector for none.
 */
export function violatedBudgets(list: unknown, labels: Readonly<Record<string, string>>): readonly string[] {
  const podLabels = new Map(Object.entries(labels));
  const { items } = (list ?? {}) as { readonly items?: unknown };
  return listOf(items).flatMap(({ metadata, spec, status }: Budget) => {
    const selector = spec?.selector ?? undefined;
    const isViolated = selector !== undefined && selects(labelSelectorOf(selector), podLabels) && (status?.disruptionsAllowed ?? 0) <= 0;
    return isViolated ? [`${metadata?.namespace ?? ''}/${metadata?.name ?? ''}`] : [];
  });
}

export function budgetsPath(namespace: string): string {
  return `/apis/policy/v1/namespaces/${encodeURIComponent(namespace)}/poddisruptionbudgets`;
}

function labelSelectorOf({ matchLabels, matchExpressions }: Selector): LabelSelector {
  const expressions = listOf(matchExpressions).map(({ key = '', operator = '', values }: Expression) => {
    return { key, operator, values: Array.isArray(values) ? values.map(String) : [] };
  });
  return {
    requirements: [...Object.entries(matchLabels ?? {}).map(([key, value]) => ({ key, operator: 'In', values: [value] })), ...expressions],
  };
}
