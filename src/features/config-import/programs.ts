import type { Report } from '../../config/value/report.js';
import { convertEarlyoom, EARLYOOM_ROWS } from './earlyoom.js';
import type { ImportSource } from './import-source.js';
import type { Mapping, Migration } from './migration.js';
import { convertNohang, NOHANG_ROWS } from './nohang.js';
import { convertOomd, OOMD_ROWS } from './oomd/oomd.js';
import { convertSystemdOomd, SYSTEMD_OOMD_ROWS } from './systemd-oomd/systemd-oomd.js';

/** A program whose configuration evictd can convert. */
export interface ImportedProgram {
  /** Pure. What is wrong with the sources goes into the report. */
  readonly convert: (sources: readonly ImportSource[], report: Report) => Migration;
  readonly rows: readonly Mapping[];
}

/** The programs by the name that `--from` takes. */
export const PROGRAMS = {
  oomd: { convert: convertOomd, rows: OOMD_ROWS },
  'systemd-oomd': { convert: convertSystemdOomd, rows: SYSTEMD_OOMD_ROWS },
  earlyoom: { convert: convertEarlyoom, rows: EARLYOOM_ROWS },
  nohang: { convert: convertNohang, rows: NOHANG_ROWS },
} as const satisfies Readonly<Record<string, ImportedProgram>>;

export type ProgramName = keyof typeof PROGRAMS;
