import type { Taint } from '../core/disruption/taint.js';
import { integerOf, items, member, textOf, type Field } from './document.js';
import type { Toleration } from '../core/disruption/toleration.js';

export function taintsAt(parent: Field): readonly Taint[] {
  return items(member(parent, 'taints')).map(taintAt);
}

export function taintAt(taint: Field): Taint {
  return {
    key: textOf(member(taint, 'key')),
    value: textOf(member(taint, 'value')),
    effect: textOf(member(taint, 'effect')) as Taint['effect'],
  };
}

export function tolerationsAt(parent: Field): readonly Toleration[] {
  return items(member(parent, 'tolerations')).map(tolerationAt);
}

export function tolerationAt(toleration: Field): Toleration {
  const text = (name: string): string => textOf(member(toleration, name));
  const tolerationSeconds = integerOf(member(toleration, 'tolerationSeconds'), 'int64');
  return {
    ...{ key: text('key'), operator: text('operator'), value: text('value'), effect: text('effect') },
    ...(tolerationSeconds !== undefined && { tolerationSeconds }),
  };
}
