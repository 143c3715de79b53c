import { degraded, ok, type Check } from '../check.js';
import { defineCheck } from '../check-kind.js';
import { NOTHING_EVICTABLE } from './evictable.js';
import type { WorkloadFacts } from '../facts/workload-facts.js';

const ID = 'config.lint';

/** Codes that other checks report. */
const REPORTED_ELSEWHERE: readonly string[] = [...NOTHING_EVICTABLE, 'EVICTD_SOURCE_MISSING', 'EVICTD_SOURCE_WATCH'];

/** The warnings of `config check`, in short. */
export function checkLint({ notices }: WorkloadFacts): Check {
  const warnings = notices.filter(({ level, code }) => level === 'warn' && !REPORTED_ELSEWHERE.includes(code));
  const details = { notices: notices.map(({ level, code, message }) => ({ level, code, message })) };
  const [first] = warnings;
  if (first === undefined) return ok(ID, 'evictd config check has no further warnings', details);
  const rest = warnings.length === 1 ? '' : `; and ${String(warnings.length - 1)} more`;
  return degraded(
    ID,
    `${first.message}${rest}`,
    `${first.hint === undefined ? '' : `${first.hint}; `}evictd config check lists all with their positions`,
    details,
  );
}

export const lintCheck = defineCheck(ID, ['workloads'], ({ workloads }) => checkLint(workloads));
