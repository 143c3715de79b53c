import { formatDuration } from '../../../core/quantity/duration.js';
import { isPressure, SIGNAL_FACTS } from '../../../core/signal/signal.js';
import { operandsOf } from '../../../core/threshold/threshold.js';
import { thresholdKey } from '../limit.js';
import type { Finding, LintRule, LintSubject } from '../lint-rule.js';
import type { NotifierState } from '../../../core/threshold/notifier-state.js';
import type { MachineFacts } from '../machine.js';

/** Signals that are only polled. Amounts of memory are judged by how fast it is used (EVICTD_LINT_OUTRUN). */
function lintPolled(subject: LintSubject, machine: MachineFacts | undefined): Finding[] {
  const { notifiers } = machine ?? {};
  if (notifiers === undefined) return [];
  const operands = subject.thresholds.flatMap((threshold) => operandsOf(threshold).map(({ signal }) => ({ signal, threshold })));
  return operands.flatMap(({ signal, threshold }, index): Finding[] => {
    if (operands.findIndex((other) => other.signal === signal) !== index) return [];
    if (SIGNAL_FACTS[signal].resource === 'memory' && !isPressure(signal)) return [];
    if (machine?.absent.has(signal) === true || machine?.unreadable.has(signal) === true) return [];
    const own = notifiers.filter((notifier) => notifier.signal === signal);
    const dead = own.filter(({ live }) => !live);
    if (own.length > dead.length && !dead.some(({ essential }) => essential)) return [];
    const interval = formatDuration(subject.monitoringIntervalNs);
    const message = `${signal} is only polled every ${interval}: ${dead.map(refusedText).join('; ') || 'no notifier exists for it'}`;
    const hint = [...new Set(dead.flatMap((notifier) => notifier.hint ?? []))].join('; ') || 'shorten monitoringInterval';
    return [{ level: 'warn', code: 'EVICTD_LINT_POLLED', message, hint, key: thresholdKey(threshold, subject), signal }];
  });
}

export function refusedText({ mechanism, reason }: Pick<NotifierState, 'mechanism' | 'reason'>): string {
  return `${mechanism} cannot be armed: ${reason ?? 'unknown'}`;
}

export const polledRule: LintRule = { codes: ['EVICTD_LINT_POLLED'], find: lintPolled };
