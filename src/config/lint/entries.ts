import type { LintRule, Finding, LintSubject } from './lint-rule.js';
import { isOff } from './limit.js';

/** Entries of the maps by signal without a threshold. */
export function lintEntries({ written, thresholds }: LintSubject): Finding[] {
  return [...written.keys()].flatMap((key): Finding[] => {
    const [, map, signal] = /^(evictionMinimumReclaim|evictionSoftGracePeriod)\.(.+)$/.exec(key) ?? [];
    if (map === undefined || signal === undefined) return [];
    const soft = map === 'evictionSoftGracePeriod';
    const found = soft ? hasSoft(signal, written) : thresholds.some((threshold) => threshold.signal === signal);
    if (found) return [];
    return [
      {
        level: 'warn',
        code: 'EVICTD_LINT_WITHOUT_THRESHOLD',
        message: `${key} has no effect: ${signal} has no ${soft ? 'soft ' : ''}threshold`,
        hint: `set ${soft ? 'evictionSoft' : 'evictionHard'}.${signal}, or remove it`,
        key,
      },
    ];
  });
}

function hasSoft(signal: string, written: ReadonlyMap<string, unknown>): boolean {
  const value = written.get(`evictionSoft.${signal}`);
  return value !== undefined && !isOff(value);
}

export const entriesRule: LintRule = {
  codes: ['EVICTD_LINT_WITHOUT_THRESHOLD'],
  find: lintEntries,
};
