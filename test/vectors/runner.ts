import { readVectorFile, VectorFileError, type VectorFile } from './file.js';
import { printJson } from './json.js';
import { VectorFormatError, type Mismatch } from './vector.js';

export interface VectorRun {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs all lines of all files; none if one of the files cannot be run. */
export function runVectors(paths: readonly string[]): VectorRun {
  try {
    const files = paths.map(readVectorFile);
    const failures = files.flatMap(failuresOf);
    const total = files.reduce((sum, file) => sum + file.vectors.length, 0);
    const summary = `${total - failures.length} passed, ${failures.length} failed\n`;
    return { exitCode: failures.length === 0 ? 0 : 1, stdout: failures.join('') + summary, stderr: '' };
  } catch (error) {
    if (error instanceof VectorFileError) return { exitCode: error.exitCode, stdout: '', stderr: `${error.message}\n` };
    throw error;
  }
}

/** A text for each line that failed: one line each for what was expected and what came. */
export function failuresOf({ path, check, vectors }: VectorFile): string[] {
  return vectors.flatMap((vector) => {
    const at = `${path}:${vector.lineNumber}`;
    try {
      const mismatches = check(vector);
      return mismatches.length === 0 ? [] : [`FAIL ${at} ${vector.name} (${vector.why})\n${mismatches.map(printMismatch).join('')}`];
    } catch (cause) {
      if (cause instanceof VectorFormatError) throw new VectorFileError(65, `${at}: ${cause.message}`, { cause });
      // A crash of the code under test fails this line, and the others still run.
      return [
        `FAIL ${at} ${vector.name} (${vector.why})\n  threw ${cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)}\n`,
      ];
    }
  });
}

function printMismatch({ what, expected, got }: Mismatch): string {
  return `  ${what}\n    expected ${printJson(expected)}\n    got      ${printJson(got)}\n`;
}
