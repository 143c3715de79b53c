import * as z from 'zod/mini';
import { isLiteral } from '../../core/workload/glob.js';
import { protectedName } from '../../core/systemd/protected-units.js';
import type { Rule } from '../../core/workload/rule.js';
import { unitKind } from '../../core/systemd/unit.js';
import { overlap } from '../../core/workload/workload-directory.js';
import { toleration } from '../resolve/taints.js';
import type { ListItem } from '../value/document.js';
import { keyText, type Report } from '../value/report.js';
import { flag, integer, MAX_INT32, parsed, pattern, refuse, seconds, text } from '../value/scalar.js';
import { bytesText, directoryText } from '../value/value-text.js';

const directory = z.strictObject({ path: parsed(directoryText) });

/** What a rule or a budget is for. */
export const match = z.strictObject({
  name: z.optional(pattern),
  path: z.optional(pattern),
  labels: z.optional(z.record(z.string(), pattern)),
});

export const rule = z.pipe(
  z.strictObject({
    match,
    critical: z.optional(flag),
    liftProtection: z.optional(flag),
    priority: z.optional(integer(-MAX_INT32 - 1, MAX_INT32)),
    priorityClass: z.optional(text),
    requests: z.optional(z.strictObject({ memory: z.optional(parsed(bytesText)) })),
    terminationGracePeriodSeconds: z.optional(seconds),
    directories: z.optional(z.array(directory)),
    tolerations: z.optional(z.array(toleration)),
  }),
  z.transform(({ requests, terminationGracePeriodSeconds, liftProtection, ...rest }, payload): Rule => {
    const refused = liftProtection === true ? liftRefusal(rest) : undefined;
    if (refused) return refuse(payload, refused.input, 'EVICTD_CONFIG_LIFT', refused.message, refused.hint, refused.path);
    if (rest.priority !== undefined && rest.priorityClass !== undefined) {
      const message = 'priority and priorityClass stand in the same rule';
      return refuse(payload, rest, 'EVICTD_CONFIG_PRIORITY_CLASS', message, 'keep one: the class has a priority', ['priorityClass']);
    }
    const rule = {
      ...rest,
      ...(liftProtection === true ? { liftProtection } : {}),
      ...(requests?.memory === undefined ? {} : { requestsMemory: requests.memory }),
      ...(terminationGracePeriodSeconds === undefined ? {} : { terminationGracePeriodNs: terminationGracePeriodSeconds }),
    };
    return rule as Rule; // zod leaves out optional keys that are not set
  }),
);

interface LiftRefusal {
  readonly message: string;
  readonly hint: string;
  /** The path of the wrong key within the rule. */
  readonly path: readonly string[];
  readonly input: unknown;
}

interface Written {
  readonly match: { readonly name?: string | undefined };
  readonly critical?: boolean | undefined;
}

/**
 * Why `liftProtection: true` is refused in this rule; undefined: accepted. It exposes a protected unit, so it must be
 * explicit.
 */
function liftRefusal({ match, critical }: Written): LiftRefusal | undefined {
  const { name } = match;
  const refusal = (message: string, hint: string, ...path: string[]): LiftRefusal => ({ message, hint, path, input: true });
  if (name === undefined) {
    return refusal('needs the full name of a unit', 'write match: { name: UNIT.service }, one rule for each unit', 'liftProtection');
  }
  if (!isLiteral(name)) {
    const message = `${JSON.stringify(name)} is a pattern: liftProtection needs the full name of one unit`;
    return refusal(message, 'write one rule for each unit, without * and ?', 'match', 'name');
  }
  if (unitKind(name) === undefined) {
    const message = `${JSON.stringify(name)} is not the full name of a unit`;
    return refusal(
      message,
      `write the name that systemctl shows: ${/\.\w+$/.test(name) ? 'sshd.service' : `${name}.service`}`,
      'match',
      'name',
    );
  }
  const listed = protectedName(name);
  if (listed?.always) return refusal(`${name} is always protected: ${listed.why}`, 'remove the rule', 'match', 'name');
  return critical === false
    ? undefined
    : refusal(
        'needs critical: false in the same rule',
        'write critical: false and liftProtection: true: two keys, so that it cannot happen by accident',
        'liftProtection',
      );
}

/** Reports overlapping directories and warns of rules without effect. */
export function checkRules(items: readonly ListItem<Rule>[], report: Report): readonly ListItem<Rule>[] {
  reportSharedDirectories(items, report);
  noticeEmptyRules(items, report);
  return items;
}

/** Reports directories of rules that are equal or overlap: a directory belongs to one workload. */
function reportSharedDirectories(items: readonly ListItem<Rule>[], report: Report): void {
  const seen: { readonly path: string; readonly at: string }[] = [];
  for (const { value, layer, path } of items) {
    for (const [index, directory] of (value.directories ?? []).entries()) {
      const position = layer.at([...path, 'directories', index, 'path']);
      const other = seen.find((one) => overlap(one.path, directory.path));
      if (other) {
        const message = `${directory.path} ${other.path === directory.path ? 'is a duplicate' : `overlaps ${other.path}`}, first at ${other.at}`;
        report.issue(
          'EVICTD_CONFIG_DIRECTORY',
          message,
          position,
          'name each directory once, and none inside another: a directory belongs to one workload',
        );
      }
      seen.push({ path: directory.path, at: `${position.file}:${String(position.line)}:${String(position.column)}` });
    }
  }
}

function noticeEmptyRules(items: readonly ListItem<Rule>[], report: Report): void {
  for (const { value, layer, path } of items) {
    if (Object.entries(value).some(([key, setting]) => key !== 'match' && setting !== undefined)) continue;
    const message = `${keyText(path)} has no effect: it only has match`;
    report.notice('warn', 'EVICTD_CONFIG_RULE_EMPTY', message, {
      hint: 'add critical, priority or priorityClass, requests, terminationGracePeriodSeconds, directories or tolerations',
      position: layer.at(path),
    });
  }
}
