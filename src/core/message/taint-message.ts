import type { Effect } from '../decide/effect.js';
import { formatDuration } from '../quantity/duration.js';

/** 'an operator set the taint maintenance=yes:NoExecute'. */
export function taintMessage(effect: Extract<Effect, { kind: 'taint' }>): string {
  const { taint } = effect;
  switch (effect.event) {
    case 'set':
      return `${effect.by ?? 'an operator'} set the taint ${taint}`;
    case 'removed':
      return `${effect.by ?? 'an operator'} removed the taint ${taint}`;
    case 'waits':
      return `${effect.workload.name} tolerates the taint ${taint} for ${formatDuration(effect.forNs)}, and is evicted after that`;
    case 'cancelled':
      return `the eviction of ${effect.workload.name} for the taint ${taint} is cancelled`;
  }
}
