import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A filesystem of the test's own, in memory. */
export interface FullFilesystem {
  readonly directory: string;
  /** Not a page is left then. */
  fill(): void;
  /** Takes away what filled it. */
  free(): void;
}

/** Unmounted when the test is over. */
export function fullFilesystem(sizeKib = 1024): FullFilesystem {
  const directory = mkdtempSync(join(tmpdir(), 'evictd-test-full-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${String(sizeKib)}k`, 'evictd-test', directory]);
  onTestFinished(() => {
    execFileSync('umount', ['-l', directory]);
    rmdirSync(directory);
  });
  const filler = join(directory, 'filler');
  return {
    directory,
    fill: () => {
      try {
        writeFileSync(filler, Buffer.alloc(2 * sizeKib * 1024));
      } catch (error) {
        if (!String(error).includes('ENOSPC')) throw error;
        return;
      }
      throw new Error(`${directory} did not fill`);
    },
    free: () => {
      rmSync(filler);
    },
  };
}
