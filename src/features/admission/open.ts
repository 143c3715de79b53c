import type { Config } from '../../config/config.js';
import type { Applicant } from './admission.js';
import { childPath, isBelow, normalCgroupPath } from '../../core/workload/cgroup.js';
import type { OperatingSystem } from '../../core/signal/operating-system.js';
import { unitPlace } from '../../core/systemd/unit.js';
import type { QosClass } from '../../core/workload/workload.js';
import { cgroupsOf, type WorkloadSourceSpec } from '../../workloads/kinds/source-spec.js';
import { selectHost } from '../../host/select.js';
import { readConditions, type ConditionsFileOptions } from './conditions-file.js';
import type { PublishedConditions } from './published-conditions.js';
import { patternsOf, type Named } from '../../core/workload/rule.js';
import { compileRules, type RuleEffect } from '../../workloads/workload-rules.js';

/** What is known of a workload that does not exist yet. */
export interface NamedWorkload {
  /** Its name in its source. */
  readonly name: string | undefined;
  /** The path of its cgroup below the mount of the memory controller. */
  readonly path: string | undefined;
  /** Overrides the rules. */
  readonly qosClass: QosClass | undefined;
}

/** The conditions file of the configured node. A dry run writes none. */
export function conditionsFileOf({
  node,
  runtimeDirectory,
}: Pick<Config, 'node' | 'runtimeDirectory'>): Omit<ConditionsFileOptions, 'log'> {
  const host = selectHost();
  const cgroup = node.cgroup === undefined ? undefined : normalCgroupPath(node.cgroup);
  return {
    path: `${runtimeDirectory}/${host.instanceName({ cgroup })}.conditions.json`,
    node: cgroup ?? 'machine',
    bootId: host.readBootId(),
  };
}

/**
 * The conditions that `run` published last for the configured node.
 *
 * @throws EvictdError  there are none, or they are out of date
 */
export function presentConditionsOf(config: Pick<Config, 'node' | 'runtimeDirectory'>): PublishedConditions {
  const { path, node, bootId } = conditionsFileOf(config);
  return readConditions(path, { node, bootId });
}

/**
 * Applies the rules: a workload with a memory request is Burstable; only the caller can make it Guaranteed. If name and
 * path fit several workloads, it is critical, or has a request, as soon as one of them has.
 */
export function applicantByRules(
  config: Pick<Config, 'rules' | 'workloads'>,
  pod: NamedWorkload,
  os: OperatingSystem = selectHost().os,
): Applicant {
  const effects = effectsOn(config, pod, os);
  const requests = effects.some(({ requestsMemory }) => requestsMemory !== undefined && requestsMemory > 0n);
  return {
    critical: effects.some(({ critical }) => critical),
    qosClass: pod.qosClass ?? (requests ? 'Burstable' : 'BestEffort'),
    tolerations: effects.flatMap(({ tolerations }) => tolerations),
  };
}

/** What the rules say of it, by each name that it may have. */
export function effectsOn(
  { rules, workloads }: Pick<Config, 'rules' | 'workloads'>,
  pod: NamedWorkload,
  os: OperatingSystem = selectHost().os,
): readonly RuleEffect[] {
  const names = os === 'windows' ? [windowsName(pod)] : namesOf(pod, workloads);
  return names.map(compileRules(rules, patternsOf(os)));
}

/** `path` is the path of a program, or 'job:NAME'. The default name is the name of the program's file. */
function windowsName({ name, path = '' }: NamedWorkload): Named {
  return { name: name ?? path.slice(Math.max(path.lastIndexOf('\\'), path.lastIndexOf('/')) + 1), path };
}

/** Everything that rules can match: each workload that it can be; a cgroup below a workload also as itself. */
function namesOf({ name, path }: NamedWorkload, workloads: readonly WorkloadSourceSpec[]): readonly Named[] {
  const sources = cgroupsOf(workloads);
  const roots = [...sources.parents, ...sources.slices];
  if (path === undefined) {
    const known = name ?? '';
    return roots.length === 0 || known === ''
      ? [{ name: known, path: '' }]
      : roots.map((root) => ({ name: known, path: childPath(root, known) }));
  }
  const whole = normalCgroupPath(path);
  if (name !== undefined) return [{ name, path: whole }];
  const { unit } = unitPlace(whole);
  const found = sources.parents.filter((root) => isBelow(whole, root)).flatMap((root) => childAndItself(whole, root));
  const isUnit = unit !== undefined && sources.holding(unit.path)?.path === unit.path;
  const named = isUnit ? [...found, { name: unit.name, path: unit.path }] : found;
  return named.length > 0 ? named : [{ name: whole.slice(whole.lastIndexOf('/') + 1), path: whole }];
}

function childAndItself(path: string, root: string): readonly Named[] {
  const rest = path.slice(childPath(root, '').length);
  const [child = rest] = rest.split('/');
  return [
    { name: child, path: childPath(root, child) },
    { name: rest, path },
  ];
}
