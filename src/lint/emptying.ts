import { readOnly } from '../core/workload-directory.js';
import type { Finding } from './finding.js';
import type { MachineFacts } from './machine.js';
import type { LintSubject } from './subject.js';

/** Directories that evictd may not write to: that shows now, and not when a disk is full. */
export function lintEmptying({ rules }: LintSubject, machine: MachineFacts | undefined): Finding[] {
  const isReadOnly = new Set(machine?.readOnly);
  return rules.flatMap(({ directories = [] }, index) =>
    directories
      .filter(({ path, onEvict }) => onEvict === 'empty' && isReadOnly.has(path))
      .map(({ path }): Finding => {
        const { why, hint } = readOnly(path);
        const message = `${path} cannot be emptied: ${why}`;
        return { level: 'warn', code: 'EVICTD_DIRECTORY_NOT_EMPTIED', message, hint, key: `rules[${String(index)}]` };
      }),
  );
}
