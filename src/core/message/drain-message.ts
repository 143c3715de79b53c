import { firstOf } from '../name/name-list.js';
import type { DrainEffect } from '../drain/drain.js';

/** The message for an operator whose request only has an effect in the journal. */
export const DRY_RUN = 'evictd makes a dry run: it ends nothing, and evictd admit does not ask it';

/** 'an operator drains the node: 3 workloads are to end'. */
export function drainMessage(effect: DrainEffect): string {
  const { left, total, by = 'an operator' } = effect;
  const some = firstOf(left);
  switch (effect.event) {
    case 'cordon':
      return `${by} cordoned the node: evictd admit refuses workloads that do not tolerate it`;
    case 'begin':
      return `${by} drains the node: ${workloads(total)} to end`;
    case 'uncordon':
      return `${by} uncordoned the node${left.length === 0 ? '' : `; its drain is over, and these were not ended: ${some}`}`;
    case 'end':
      return effect.because === 'drained'
        ? `the node is drained: ${workloads(total)} ended`
        : `the time of the drain is over: ${String(left.length)} of ${String(total)} workloads were not ended: ${some}`;
  }
}

function workloads(count: number): string {
  return count === 1 ? '1 workload' : `${String(count)} workloads`;
}
