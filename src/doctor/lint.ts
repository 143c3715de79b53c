import { degraded, ok, type Check } from './check.js';
import { NOTHING_EVICTABLE } from './evictable.js';
import type { WorkloadFacts } from './facts/workloads.js';

const ID = 'config.lint';

/** Said by another check. */
const TOLD: readonly string[] = [...NOTHING_EVICTABLE, 'EVICTD_SOURCE_MISSING', 'EVICTD_SOURCE_WATCH'];

/** What `config check` warns of, in short. */
export function checkLint({ notices }: WorkloadFacts): Check {
  const warnings = notices.filter(({ level, code }) => level === 'warn' && !TOLD.includes(code));
  const details = { notices: notices.map(({ level, code, message }) => ({ level, code, message })) };
  const [first] = warnings;
  if (first === undefined) return ok(ID, 'the configuration does what it looks like', details);
  const rest = warnings.length === 1 ? '' : `; and ${String(warnings.length - 1)} more`;
  return degraded(
    ID,
    `${first.message}${rest}`,
    `${first.hint === undefined ? '' : `${first.hint}; `}evictd config check shows all, with their places`,
    details,
  );
}
