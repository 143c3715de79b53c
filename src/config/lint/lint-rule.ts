import type { Finding } from './finding.js';
import type { MachineFacts } from './machine.js';
import type { LintSubject } from './subject.js';

/** A kind of finding. To add one, define it in a file of its own and add it to LINT_RULES (and to docs/lint.md). */
export interface LintRule {
  /** The codes of its findings. */
  readonly codes: readonly string[];
  /** @param machine  undefined: only findings that hold on every machine */
  readonly find: (subject: LintSubject, machine: MachineFacts | undefined) => readonly Finding[];
}
