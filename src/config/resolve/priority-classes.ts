import * as z from 'zod/mini';
import {
  HIGHEST_CONFIGURED_PRIORITY,
  PREEMPTION_POLICIES,
  SYSTEM_CLASS_PREFIX,
  SYSTEM_CLASSES,
  type PriorityClass,
} from '../../core/disruption/priority-class.js';
import { SYSTEM_CRITICAL_PRIORITY } from '../../core/workload/workload.js';
import type { Rule } from '../../core/workload/rule.js';
import type { ListItem } from '../value/document.js';
import { suggestion, type Report } from '../value/report.js';
import { integer, MAX_INT32, parsed } from '../value/scalar.js';
import { TextError } from '../value/value-text.js';

const CODE = 'EVICTD_CONFIG_PRIORITY_CLASS';
/** RFC 1123 subdomain, as the names of Kubernetes' objects. */
const NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

const className = parsed((text) => {
  if (!NAME.test(text) || text.length > 253)
    throw new TextError(CODE, `not a name of a priority class: ${JSON.stringify(text)}`, 'write lower-case letters, digits, - and .');
  if (!text.startsWith(SYSTEM_CLASS_PREFIX)) return text;
  const hint = `${SYSTEM_CLASSES.map(({ name }) => name).join(' and ')} exist; choose a name without ${SYSTEM_CLASS_PREFIX}`;
  throw new TextError(CODE, `${text}: names that begin with ${SYSTEM_CLASS_PREFIX} are reserved`, hint);
});

export const priorityClass = z.pipe(
  z.strictObject({
    name: className,
    value: integer(-MAX_INT32 - 1, HIGHEST_CONFIGURED_PRIORITY),
    preemptionPolicy: z.optional(z.enum(PREEMPTION_POLICIES)),
  }),
  z.transform(({ preemptionPolicy = 'PreemptLowerPriority', ...rest }): PriorityClass => ({ ...rest, preemptionPolicy })),
);

/** Reports a name that stands twice. */
export function distinctClasses(items: readonly ListItem<PriorityClass>[], report: Report): readonly ListItem<PriorityClass>[] {
  return items.filter(({ value: { name }, layer, path }, index) => {
    const isFirst = items.findIndex(({ value }) => value.name === name) === index;
    if (!isFirst) report.issue(CODE, `priority class ${name} stands twice`, layer.at([...path, 'name']), 'remove one of the two');
    return isFirst;
  });
}

/** The rules with the priority of the class that they name. Reports a class that does not exist. */
export function rulesWithClasses(items: readonly ListItem<Rule>[], configured: readonly PriorityClass[], report: Report): Rule[] {
  const classes = [...configured, ...SYSTEM_CLASSES];
  return items.map(({ value: rule, layer, path }) => {
    const { priorityClass: name } = rule;
    if (name === undefined) return rule;
    const found = classes.find((each) => each.name === name);
    if (found !== undefined) {
      const { value: priority, preemptionPolicy } = found;
      return { ...rule, priority, preemptionPolicy, ...(priority >= SYSTEM_CRITICAL_PRIORITY && { critical: true }) };
    }
    const known = classes.map((each) => each.name);
    report.issue(CODE, `there is no priority class ${name}`, layer.at([...path, 'priorityClass']), suggestion(name, known));
    return rule;
  });
}
