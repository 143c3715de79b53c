import { integerOf, items, member, textOf, type Field } from '../../../../src/kubernetes/document.js';
import { labelSelectorAt, type LabelSelector, type Labels } from '../label-selector.js';

/** v1.TopologySpreadConstraint. */
export interface SpreadConstraint {
  readonly topologyKey: string;
  readonly maxSkew: number;
  readonly whenUnsatisfiable: string;
  readonly minDomains: number;
  readonly selector: LabelSelector | undefined;
  readonly honorsAffinity: boolean;
  readonly honorsTaints: boolean;
}

/** @param podLabels  whose values `matchLabelKeys` takes */
export function spreadConstraintsAt(list: Field, podLabels: Labels): readonly SpreadConstraint[] {
  return items(list).map((constraint) => {
    const matched = items(member(constraint, 'matchLabelKeys')).flatMap((field) => {
      const key = textOf(field);
      const value = podLabels.get(key);
      return value === undefined ? [] : [{ key, operator: 'In', values: [value] }];
    });
    const selector = labelSelectorAt(member(constraint, 'labelSelector'));
    return {
      topologyKey: textOf(member(constraint, 'topologyKey')),
      maxSkew: Number(integerOf(member(constraint, 'maxSkew'), 'int32') ?? 0n),
      whenUnsatisfiable: textOf(member(constraint, 'whenUnsatisfiable')),
      minDomains: Number(integerOf(member(constraint, 'minDomains'), 'int32') ?? 1n),
      selector: matched.length === 0 ? selector : { requirements: [...matched, ...(selector?.requirements ?? [])] },
      honorsAffinity: textOf(member(constraint, 'nodeAffinityPolicy')) !== 'Ignore',
      honorsTaints: textOf(member(constraint, 'nodeTaintsPolicy')) === 'Honor',
    };
  });
}
