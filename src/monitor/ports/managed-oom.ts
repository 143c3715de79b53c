import type { ManagedUnit } from '../../core/systemd/managed-unit.js';
import type { OomdSettings, OomRule } from '../../core/systemd/oomd-settings.js';
import type { SourceProblem } from './source-problem.js';

/** What units ask of systemd-oomd, and what its own files say. */
export interface ManagedSettings {
  readonly units: readonly ManagedUnit[];
  readonly settings: OomdSettings;
  readonly rules: readonly OomRule[];
  /** systemd-oomd runs: it acts on these units. */
  readonly isLeftToOomd: boolean;
}

/** The settings for an out-of-memory daemon, of units of systemd and of its user managers. No method waits. */
export interface ManagedOom {
  /** To be called at ticks: follows users and what systemd does not signal. */
  look(nowNs: bigint): void;
  /** undefined: systemd has not answered yet, or is not the init of this machine. */
  read(): ManagedSettings | undefined;
  problems(): readonly SourceProblem[];
  close(): void;
}
