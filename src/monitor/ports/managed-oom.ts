import type { ManagedSettings } from '../../core/systemd/oomd-settings.js';
import type { SourceProblem } from './source-problem.js';

/** The settings for an out-of-memory daemon, of units of systemd and of its user managers. No method waits. */
export interface ManagedOom {
  /** Called at ticks: follows users, and changes that systemd does not signal. */
  look(nowNs: bigint): void;
  /** undefined: systemd has not answered yet. */
  read(): ManagedSettings | undefined;
  problems(): readonly SourceProblem[];
  close(): void;
}
