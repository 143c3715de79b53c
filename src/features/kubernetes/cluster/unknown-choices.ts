import { TAINT_EFFECTS } from '../../../core/disruption/taint.js';
import { isAbsent, items, member, textOf, wrong, type Field } from '../../../kubernetes/document.js';

interface Choice {
  readonly values: readonly string[];
  /** What the scheduler makes of another value. */
  readonly otherwise: string;
}

const POLICIES = ['Honor', 'Ignore'];

/** The known values of members of the items of a list, by list of a spec. */
const CHOICES: Readonly<Record<string, Readonly<Record<string, Choice>>>> = {
  topologySpreadConstraints: {
    whenUnsatisfiable: { values: ['DoNotSchedule', 'ScheduleAnyway'], otherwise: 'it counts as DoNotSchedule' },
    nodeAffinityPolicy: { values: POLICIES, otherwise: 'it counts as Honor' },
    nodeTaintsPolicy: { values: POLICIES, otherwise: 'it counts as Ignore' },
  },
  tolerations: {
    operator: { values: ['Exists', 'Equal', 'Gt', 'Lt'], otherwise: 'it tolerates nothing' },
    effect: { values: TAINT_EFFECTS, otherwise: 'it tolerates nothing' },
  },
  taints: { effect: { values: TAINT_EFFECTS, otherwise: 'it repels no pod' } },
};

/** Values in the spec of a pod or a node that the API server refuses. */
export function* unknownChoices(spec: Field): Generator<string> {
  for (const [list, choices] of Object.entries(CHOICES)) {
    for (const item of items(member(spec, list))) {
      for (const [name, { values, otherwise }] of Object.entries(choices)) {
        const field = member(item, name);
        if (isAbsent(field) || textOf(field) === '' || values.includes(textOf(field))) continue;
        yield `${wrong(field, `one of ${values.join(', ')}`).message}: ${otherwise}`;
      }
    }
  }
}
