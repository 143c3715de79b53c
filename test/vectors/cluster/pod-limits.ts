import type { Quantity } from '../../../src/core/quantity/quantity.js';
import type { PodAmounts } from '../../../src/core/scheduling/pod-requests.js';
import { podLimits } from '../../../src/core/workload/pod-resources.js';
import type { ResourceList } from '../../../src/core/workload/workload.js';

export function podLimitsOf(
  pod: PodAmounts,
  options: { readonly withoutOverhead?: boolean; readonly containersOnly?: boolean } = {},
): ResourceList {
  return podLimits({
    ...pod,
    ...(options.withoutOverhead === true ? { overhead: new Map<string, Quantity>() } : {}),
    ...(options.containersOnly === true ? { podLevel: undefined } : {}),
  });
}
