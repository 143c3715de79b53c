import { constants } from 'node:os';
import { containerScope } from '../core/container-scope.js';
import type { Workload } from '../core/workload.js';
import type { Rule } from '../core/rule.js';
import { neverEmptied, overlap, readOnly, type EmptyingObjection } from '../core/workload-directory.js';
import { errnoText } from '../errors.js';
import type { SourceProblem } from '../monitor/ports.js';
import type { DirectoryUsageResult } from '../native/binding.js';
import { compileRules } from './rules.js';

const { EROFS, ELOOP, EPERM } = constants.errno;

/** What is in it, and what is above it, is never emptied. */
export interface KeptDirectory {
  readonly path: string;
  readonly why: string;
}

/** What is against emptying a directory; undefined: nothing is. */
export function objectionTo(
  path: string,
  workload: Workload,
  { obstacle }: Pick<DirectoryUsageResult, 'obstacle'>,
  kept: readonly KeptDirectory[],
): EmptyingObjection | undefined {
  const never = neverEmptied(path) ?? keptBy(kept, path);
  if (never !== undefined) return { why: never, hint: 'name another directory' };
  const again = startedByOthers(workload);
  if (again !== undefined) return { why: again, hint: 'write onEvict: keep; it is counted all the same' };
  switch (obstacle) {
    case 0:
      return undefined;
    case EROFS:
      return readOnly(path);
    case ELOOP:
      return { why: 'a part of its path is a symbolic link', hint: 'name it by the path without links' };
    case EPERM:
      return {
        why: 'somebody else than its owner and root could put another directory in its place',
        hint: 'what it lies in has to be root’s or its owner’s, and not writable by a group or by everybody',
      };
    default:
      return { why: errnoText(obstacle), hint: 'evictd has to be able to open and to write it' };
  }
}

/**
 * What is against emptying the directory of who was evicted, as things are now: it was decided some time ago, perhaps by an evictd before, under another configuration.
 *
 * @param workloads  those that run now
 */
export function objectionNow(
  path: string,
  owner: Workload,
  {
    rules,
    workloads,
    kept,
  }: { readonly rules: readonly Rule[]; readonly workloads: readonly Workload[]; readonly kept: readonly KeptDirectory[] },
): string | undefined {
  const never = neverEmptied(path) ?? keptBy(kept, path);
  if (never !== undefined) return never;
  const { critical, directories: own } = compileRules(rules)(owner);
  if (critical) return `a rule says by now that ${owner.name} is critical`;
  if (!own.some((named) => named.path === path && named.onEvict === 'empty')) return 'no rule has it emptied any more';
  const others = workloads.filter((workload) => workload.path !== owner.path); // whether it has come back itself its cgroup says
  const other = others.find(({ directories = [] }) => directories.some((theirs) => overlap(theirs.path, path)));
  return other && `it is a directory of ${other.name}, too`;
}

function keptBy(kept: readonly KeptDirectory[], path: string): string | undefined {
  return kept.find((one) => overlap(one.path, path))?.why;
}

export function notEmptied(path: string, name: string, { why, hint }: EmptyingObjection): SourceProblem {
  return { code: 'EVICTD_DIRECTORY_NOT_EMPTIED', message: `${path} is not emptied when ${name} is evicted: ${why}`, hint };
}

/** Who may be started again while its directory is emptied, by somebody whom evictd does not ask. */
function startedByOthers({ path, pod, runtime, unit }: Workload): string | undefined {
  if (pod !== undefined || runtime !== undefined || containerScope(path)) return 'it is a container, which its runtime may start again';
  if (unit?.manager === 'user') return 'it is a unit of a user’s systemd, which may start it again';
  return unit === undefined && /\.(service|scope|slice)$/.test(path)
    ? 'it is a unit of systemd, and no unit to its workload source'
    : undefined;
}
