import { statfsSync } from 'node:fs';
import { onTestFinished } from 'vitest';
import type { TestCgroup, TestProcess } from '../support/cgroup.js';
import { loopFilesystem, type LoopType } from '../support/loop-filesystem.js';
import { until } from './wait.js';

/** An empty filesystem; unmounted after the test even if files on it are still open. */
export function disk(mib: number, inodes?: number, type?: LoopType): string {
  const made = loopFilesystem(mib, inodes, type);
  onTestFinished(() => {
    made.remove();
  });
  made.mount();
  return made.directory;
}

/** Bytes that an unprivileged process can still take. */
export function available(directory: string): number {
  const { bavail, bsize } = statfsSync(directory);
  return bavail * bsize;
}

export const alive = ({ child }: TestProcess): boolean => child.exitCode === null && child.signalCode === null;

/**
 * Holds a file of this many MiB (Infinity: all that is left), deleted before the first write unless `kept`.
 * `also`: a child in this cgroup holds it, too.
 */
export function holder(
  cgroup: TestCgroup,
  file: string,
  mib: number,
  plan: 'deleted' | 'kept' = 'deleted',
  also?: TestCgroup,
): Promise<TestProcess> {
  const script = `
    use IO::Handle;
    open(my $held, '>', $ARGV[0]) or die $!;
    ${plan === 'deleted' ? 'unlink $ARGV[0];' : ''}
    my $block = 'x' x 65536;
    for (my $left = ${mib === Infinity ? '1e9' : String(mib * 16)}; $left > 0; $left--) { defined(syswrite($held, $block)) or last }
    ${mib === Infinity ? 'for (1 .. 4) { $held->sync; for my $size (4096, 512) { while (defined(syswrite($held, "x" x $size))) {} } } # what was kept back for metadata' : ''}
    if ($ARGV[1] && !fork) { open(my $procs, '>', "$ARGV[1]/cgroup.procs") or die $!; syswrite($procs, $$); print "child\\n"; sleep while 1 }`;
  return holding(cgroup, script, [file, ...(also ? [also.dir] : [])], ['ready', ...(also ? ['child'] : [])]);
}

/** Holds this many empty files in a directory (Infinity: until no inode is left), deleted unless `kept`. */
export function inodeHolder(cgroup: TestCgroup, directory: string, files: number, plan: 'deleted' | 'kept'): Promise<TestProcess> {
  const script = `
    my @held;
    for (my $n = 0; $n < ${files === Infinity ? '1e9' : String(files)}; $n++) {
      open(my $file, '>', "$ARGV[0]/of-$$-$n") or ($!{ENOSPC} ? last : die $!);
      ${plan === 'deleted' ? 'unlink "$ARGV[0]/of-$$-$n"; push @held, $file;' : ''}
    }`;
  return holding(cgroup, script, [directory], ['ready']);
}

async function holding(cgroup: TestCgroup, script: string, args: readonly string[], words: readonly string[]): Promise<TestProcess> {
  const started = await cgroup.spawn('perl', ['-e', `$| = 1; ${script} print "ready\\n"; sleep while 1;`, ...args]);
  let said = '';
  started.child.stdout?.on('data', (chunk: Buffer) => (said += chunk.toString()));
  // Or it was evicted before it could print "ready".
  await until(`${cgroup.path} has written`, () => words.every((word) => said.includes(word)) || !alive(started));
  return started;
}
