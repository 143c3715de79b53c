import { EVICTS_NOTHING } from '../../config/lint/lint-rule.js';
import { filesystemOf, isPressure } from '../../core/signal/signal.js';
import { broken, degraded, ok, type Check } from './check.js';
import type { LintFacts, WorkloadFacts } from './machine-facts.js';

type CheckOf = string | ((finding: LintFacts) => string);

const REST = 'config.lint';

const ofSignal = ({ signal }: LintFacts): string => `notifier.${signal ?? ''}`;

/** Which check shows a finding of `config check`, by its code. Each finding is shown once. */
const SHOWN_BY: Readonly<Record<string, CheckOf>> = {
  EVICTD_LINT_KERNEL_FIRST: 'kernel.watermarks',
  EVICTD_LINT_SWAP_FIRST: 'kernel.watermarks',
  EVICTD_LINT_KERNEL_MEMORY: 'kernel.watermarks',
  EVICTD_LINT_SOFT_ALONE: 'kernel.watermarks',
  EVICTD_LINT_ZRAM: 'kernel.swap',
  EVICTD_LINT_MEMORY_NODES: 'workloads.numa',
  EVICTD_LINT_OUTRUN: ofSignal,
  EVICTD_LINT_POLLED: ofSignal,
  EVICTD_CONFIG_ALLOCATABLE: 'notifier.allocatableMemory.available',
  EVICTD_LINT_UNREACHABLE: (finding) =>
    finding.signal !== undefined ? ofSignal(finding) : finding.key?.endsWith('.memory.available') === true ? 'kernel.watermarks' : REST,
  EVICTD_SIGNAL_UNREADABLE: (finding) => {
    const { signal } = finding;
    const filesystem = signal && filesystemOf(signal);
    if (filesystem !== undefined) return `filesystem.${filesystem}`;
    return signal !== undefined && isPressure(signal) ? 'kernel.pressure' : ofSignal(finding);
  },
  ...Object.fromEntries([...EVICTS_NOTHING].map((code) => [code, 'workloads.evictable'])),
};

function checkOf(finding: LintFacts): string {
  const shown = SHOWN_BY[finding.code];
  if (shown === undefined) return /^workloads\[\d+\]$/.exec(finding.key ?? '')?.[0] ?? REST;
  return typeof shown === 'string' ? shown : shown(finding);
}

export function findingsOf(id: string, { notices }: Pick<WorkloadFacts, 'notices'>): readonly LintFacts[] {
  return notices.filter((finding) => checkOf(finding) === id);
}

/** A check with the judgement of `config check`: the worst finding that it shows. @param summary  where there is none */
export function judged(id: string, facts: Pick<WorkloadFacts, 'notices'>, summary: string, details: Check['details'] = {}): Check {
  return judgedBy(id, findingsOf(id, facts), summary, details);
}

/** The checks, after the last one took the findings of those that this machine does not have. */
export function withRest(checks: readonly Check[], { notices }: Pick<WorkloadFacts, 'notices'>): readonly Check[] {
  const homeless = notices.filter((finding) => !checks.some(({ id }) => id === checkOf(finding)));
  if (homeless.length === 0) return checks;
  const rest = [...notices.filter((finding) => checkOf(finding) === REST), ...homeless];
  return checks.map((check) => (check.id === REST ? judgedBy(REST, rest, '', {}) : check));
}

function judgedBy(id: string, found: readonly LintFacts[], summary: string, details: Check['details']): Check {
  const bad = found.filter(({ level }) => level !== 'info');
  const worst = bad.find(({ level }) => level === 'error') ?? bad[0];
  const listed = found.map(({ level, code, message }) => ({ level, code, message }));
  const all = { ...details, ...(listed.length > 0 && { findings: listed }) };
  if (worst === undefined) return ok(id, found[0]?.message ?? summary, all);
  const more = bad.length === 1 ? '' : `; and ${String(bad.length - 1)} more`;
  return (worst.level === 'error' ? broken : degraded)(id, `${worst.message}${more}`, worst.hint ?? 'see evictd config check', all);
}
