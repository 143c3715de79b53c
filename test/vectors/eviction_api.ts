import { integerOf, isAbsent, items, member, textOf, type Field } from '../../src/kubernetes/document.js';
import { selects, type Labels } from '../../src/core/scheduling/label-selector.js';
import { labelsAt, labelSelectorAt } from '../../src/kubernetes/scheduling/label-selector.js';
import { evictPod, type PodBudget, type EvictionAnswer, type EvictionRequest } from '../../src/core/drain/pod-eviction.js';
import { checkKinds } from './kind.js';

/** Of every pod. */
const RESOURCE_VERSION = '100';

export const checkEvictionApi = checkKinds({
  evict: (input) => {
    const request = requestAt(input);
    return answerJson(request, evictPod(request), !isAbsent(member(input, 'fillDisruptedPods')));
  },
});

function requestAt(input: Field): EvictionRequest {
  const pod = member(input, 'pod');
  const metadata = member(pod, 'metadata');
  const status = member(pod, 'status');
  const options = member(input, 'deleteOptions');
  const preconditions = member(options, 'preconditions');
  const name = textOf(member(metadata, 'name'));
  const labels = labelsAt(member(metadata, 'labels'));
  const filled = integerAt(member(input, 'fillDisruptedPods'));
  return {
    pod: {
      name,
      namespace: textOf(member(metadata, 'namespace')),
      uid: textOf(member(metadata, 'uid')),
      resourceVersion: RESOURCE_VERSION,
      phase: textOf(member(status, 'phase')),
      ready: conditionAt(status, 'Ready')?.status === 'True',
      terminating: !isAbsent(member(metadata, 'deletionTimestamp')),
    },
    urlName: textOf(member(input, 'urlName')) || name,
    queryDryRun: items(member(input, 'queryDryRun')).map(textOf),
    optionsDryRun: items(member(options, 'dryRun')).map(textOf),
    uid: optionalText(member(preconditions, 'uid')),
    resourceVersion: optionalText(member(preconditions, 'resourceVersion')),
    budgets: items(member(input, 'podDisruptionBudgets')).map((budget) => budgetAt(budget, labels, filled)),
    budgetConflicts: Number(integerAt(member(input, 'pdbUpdateConflicts'))),
    deleteConflicts: Number(integerAt(member(input, 'podDeleteConflicts'))),
  };
}

function budgetAt(budget: Field, labels: Labels, filled: bigint): PodBudget {
  const [metadata, spec, status] = [member(budget, 'metadata'), member(budget, 'spec'), member(budget, 'status')];
  const number = (name: string): bigint => integerAt(member(status, name));
  return {
    namespace: textOf(member(metadata, 'namespace')),
    name: textOf(member(metadata, 'name')),
    matches: selects(labelSelectorAt(member(spec, 'selector')), labels),
    alwaysAllowsUnhealthy: textOf(member(spec, 'unhealthyPodEvictionPolicy')) === 'AlwaysAllow',
    generation: integerAt(member(metadata, 'generation')),
    observedGeneration: number('observedGeneration'),
    currentHealthy: number('currentHealthy'),
    desiredHealthy: number('desiredHealthy'),
    disruptionsAllowed: number('disruptionsAllowed'),
    disruptedPods: filled,
    condition: conditionAt(status, 'DisruptionAllowed'),
  };
}

function conditionAt(status: Field, type: string): PodBudget['condition'] {
  const condition = items(member(status, 'conditions')).find((candidate) => textOf(member(candidate, 'type')) === type);
  if (condition === undefined) return undefined;
  const text = (name: string): string => textOf(member(condition, name));
  return { status: text('status'), reason: text('reason'), message: text('message') };
}

function answerJson({ pod, budgets }: EvictionRequest, answer: EvictionAnswer, isFilled: boolean): unknown {
  const { failure, deleteCalls, podDeleted, marked, dryRun, bound } = answer;
  return {
    ...(failure === undefined ? { code: 201, status: 'Success' } : { ...failure }),
    deleteCalls,
    podDeleted,
    ...(marked ? { disruptionTarget: { status: 'True', reason: 'EvictionByEvictionAPI', message: 'Eviction API: evicting' } } : {}),
    ...(dryRun ? { dryRunDelete: true } : {}),
    ...(bound ? { deleteWithResourceVersionPrecondition: true } : {}),
    pdbsAfter: Object.fromEntries(
      answer.budgets.map((budget, index) => [
        `${budget.namespace}/${budget.name}`,
        {
          disruptionsAllowed: budget.disruptionsAllowed,
          disruptionAllowedCondition: budget.condition,
          ...(isFilled ? {} : { disruptedPods: budget === budgets[index] ? [] : [pod.name] }),
        },
      ]),
    ),
  };
}

function integerAt(field: Field): bigint {
  return integerOf(field, 'int64') ?? 0n;
}

function optionalText(field: Field): string | undefined {
  return isAbsent(field) ? undefined : textOf(field);
}
