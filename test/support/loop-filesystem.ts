import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export type LoopType = 'ext4' | 'xfs';

/** A filesystem in a file. */
export interface LoopFilesystem {
  readonly directory: string;
  mount(): void;
  unmount(): void;
  remove(): void;
}

/**
 * Not mounted yet: the directory exists on the filesystem of the image.
 *
 * @param inodes  xfs creates inodes on demand, in at most a hundredth of the filesystem: 640 in 32 MiB
 */
export function loopFilesystem(sizeMib = 8, inodes = 100, type: LoopType = 'ext4', parent = tmpdir()): LoopFilesystem {
  const home = mkdtempSync(join(parent, 'evictd-test-loop-'));
  const image = join(home, 'image');
  const directory = join(home, 'mounted');
  execFileSync('mkdir', [directory]);
  writeFileSync(image, '');
  truncateSync(image, sizeMib << 20);
  try {
    makeFilesystem(type, image, inodes);
  } catch (error) {
    rmSync(home, { recursive: true });
    throw error;
  }
  let mounted = false;
  const unmount = (): void => {
    if (mounted) execFileSync('umount', ['-l', directory]);
    mounted = false;
  };
  return {
    directory,
    mount: () => {
      execFileSync('mount', ['-o', 'loop', image, directory]);
      mounted = true;
    },
    unmount,
    remove: () => {
      unmount();
      rmSync(home, { recursive: true });
    },
  };
}

/** xfs below 300 MB needs the option for tests. */
function makeFilesystem(type: LoopType, image: string, inodes: number): void {
  const [command, options] = {
    ext4: ['mkfs.ext4', ['-q', '-F', '-m', '0', '-O', '^has_journal', '-N', String(inodes)]] as const,
    xfs: ['mkfs.xfs', ['-q', '--unsupported', '-i', 'maxpct=1']] as const,
  }[type];
  execFileSync(command, [...options, image], { stdio: ['ignore', 'ignore', 'pipe'] });
}

/** Whether loop devices can be mounted here. */
export function loopWorks(type: LoopType = 'ext4'): boolean {
  let tried: LoopFilesystem | undefined;
  try {
    tried = loopFilesystem(32, 100, type);
    tried.mount();
    return true;
  } catch {
    return false;
  } finally {
    tried?.remove();
  }
}
