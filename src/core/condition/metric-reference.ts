import type { MetricReference, ScopeKind } from '../policy/condition.js';
import { METRICS, isMetric } from '../policy/metric.js';
import { namesIn, normalCgroupPath } from '../workload/cgroup.js';
import { ConditionProblem } from './condition-problem.js';
import type { Token } from './condition-scan.js';

/** `cgroup(PATH)`, and what follows. */
const NAMED = /^cgroup\(([^()]*)\)(.*)$/s;

/**
 * `NAME`, `node.NAME` or `cgroup(PATH).NAME`.
 *
 * @param token  where it is
 * @throws ConditionProblem
 */
export function readMetric(token: Token, written: string, scope: ScopeKind): MetricReference {
  const [, path, rest = ''] = NAMED.exec(written) ?? [];
  if (path !== undefined) return namedMetric(token, path, rest);
  const isNodes = written.startsWith('node.');
  const name = isNodes ? written.slice('node.'.length) : written;
  if (!isMetric(name)) throw new ConditionProblem('METRIC', token.offset, `${JSON.stringify(token.text)} is not a metric`, '');
  const { cgroup, node } = METRICS[name];
  const of: ScopeKind = scope === 'node' || isNodes || cgroup === undefined ? 'node' : 'cgroup';
  if (of === 'cgroup' || node !== undefined) return { name, of };
  const hint = isNodes ? `write ${name}` : 'add scope: {cgroup: PATTERN}';
  throw new ConditionProblem('METRIC', token.offset, `${name} is a metric of cgroups, and not of the node`, hint);
}

/**
 * The path of `cgroup(PATH)` without a metric. undefined: it is another word.
 *
 * @throws ConditionProblem
 */
export function cgroupAlone(token: Token): string | undefined {
  const [, path, rest] = NAMED.exec(token.text) ?? [];
  return path === undefined || rest !== '' ? undefined : cgroupPath(token, path);
}

/** A metric of one named cgroup, in any scope. */
function namedMetric(token: Token, written: string, rest: string): MetricReference {
  const path = cgroupPath(token, written);
  const offset = token.offset + `cgroup(${written})`.length;
  const name = rest.slice(1);
  if (!rest.startsWith('.'))
    throw new ConditionProblem('METRIC', offset, `no metric of cgroup(${written})`, 'write .memory.current after it');
  if (!isMetric(name)) throw new ConditionProblem('METRIC', offset + 1, `${JSON.stringify(name)} is not a metric`, '');
  if (METRICS[name].cgroup !== undefined) return { name, of: 'cgroup', path };
  throw new ConditionProblem('METRIC', offset + 1, `${name} is a metric of the node, and not of a cgroup`, `write ${name}`);
}

/** The path without a slash at its end. */
function cgroupPath({ offset }: Token, written: string): string {
  const at = offset + 'cgroup('.length;
  if (!written.startsWith('/') || /[*?]/.test(written))
    throw new ConditionProblem('METRIC', at, `not the path of one cgroup: ${written}`, 'write cgroup(/workload.slice), without * and ?');
  if (namesIn(written).some((name) => name === '.' || name === '..'))
    throw new ConditionProblem('METRIC', at, `not a path below the cgroup root: ${written}`, 'leave out . and ..');
  const path = normalCgroupPath(written);
  if (path !== '/') return path;
  throw new ConditionProblem('METRIC', at, '/ is the root cgroup, which is the whole machine', 'write node.memory.anon');
}
