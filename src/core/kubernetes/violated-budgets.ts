interface Selector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly { readonly key: string; readonly operator: string; readonly values?: readonly string[] }[];
}

interface Budget {
  readonly metadata?: { readonly namespace?: string; readonly name?: string };
  readonly spec?: { readonly selector?: Selector };
  readonly status?: { readonly disruptionsAllowed?: number };
}

/**
 * The budgets of a PodDisruptionBudgetList (policy/v1) that do not permit the eviction of a pod with these labels:
 * 'NAMESPACE/NAME'. A budget with an empty selector is for every pod, and one without a selector for none.
 */
export function violatedBudgets(list: unknown, labels: Readonly<Record<string, string>>): readonly string[] {
  const { items = [] } = (list ?? {}) as { readonly items?: readonly Budget[] };
  return items.flatMap(({ metadata, spec, status }) => {
    const isViolated = spec?.selector !== undefined && selects(spec.selector, labels) && (status?.disruptionsAllowed ?? 0) <= 0;
    return isViolated ? [`${metadata?.namespace ?? ''}/${metadata?.name ?? ''}`] : [];
  });
}

export function budgetsPath(namespace: string): string {
  return `/apis/policy/v1/namespaces/${encodeURIComponent(namespace)}/poddisruptionbudgets`;
}

/** metav1.LabelSelector: every requirement has to hold. */
function selects({ matchLabels = {}, matchExpressions = [] }: Selector, labels: Readonly<Record<string, string>>): boolean {
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, operator, values = [] }) => {
      const value = labels[key];
      if (operator === 'Exists') return value !== undefined;
      if (operator === 'DoesNotExist') return value === undefined;
      const isIn = value !== undefined && values.includes(value);
      return operator === 'In' ? isIn : operator === 'NotIn' && !isIn;
    })
  );
}
