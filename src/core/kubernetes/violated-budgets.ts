import { listOf } from './pod-call.js';

interface Selector {
  readonly matchLabels?: Readonly<Record<string, string>> | null;
  readonly matchExpressions?: unknown;
}

interface Requirement {
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
  const { items } = (list ?? {}) as { readonly items?: unknown };
  return listOf(items).flatMap(({ metadata, spec, status }: Budget) => {
    const selector = spec?.selector ?? undefined;
    const isViolated = selector !== undefined && selects(selector, labels) && (status?.disruptionsAllowed ?? 0) <= 0;
    return isViolated ? [`${metadata?.namespace ?? ''}/${metadata?.name ?? ''}`] : [];
  });
}

export function budgetsPath(namespace: string): string {
  return `/apis/policy/v1/namespaces/${encodeURIComponent(namespace)}/poddisruptionbudgets`;
}

/** metav1.LabelSelector: every requirement has to hold. */
function selects({ matchLabels, matchExpressions }: Selector, labels: Readonly<Record<string, string>>): boolean {
  return (
    Object.entries(matchLabels ?? {}).every(([key, value]) => labels[key] === value) &&
    listOf(matchExpressions).every(({ key = '', operator, values }: Requirement) => {
      const value = labels[key];
      if (operator === 'Exists') return value !== undefined;
      if (operator === 'DoesNotExist') return value === undefined;
      const isIn = value !== undefined && Array.isArray(values) && values.includes(value);
      return operator === 'In' ? isIn : operator === 'NotIn' && !isIn;
    })
  );
}
