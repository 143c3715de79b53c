import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A tmpfs for the test. */
export interface FullFilesystem {
  readonly directory: string;
  /** Fills it to the last page. */
  fill(): void;
  /** Removes what `fill` wrote. */
  free(): void;
}

/** Unmounted after the test. */
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
