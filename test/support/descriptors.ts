import { execFileSync } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';

/** More than a test process holds. */
const LOW_LIMIT = 256;

/** Runs `use` while this process cannot open another file: it must not start processes or import modules. */
export async function withoutDescriptors(use: () => void | Promise<void>): Promise<void> {
  const [, soft = ''] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1')) ?? [];
  limit(String(LOW_LIMIT));
  const taken: number[] = [];
  try {
    takeAll(taken);
    await use();
  } finally {
    for (const descriptor of taken) closeSync(descriptor);
    limit(soft);
  }
}

function takeAll(taken: number[]): void {
  try {
    for (;;) taken.push(openSync('/dev/null', 'r'));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EMFILE')) throw error;
  }
}

/** Sets the soft limit; the hard one stays, so that it can be raised again. */
function limit(descriptors: string): void {
  execFileSync('prlimit', ['--pid', String(process.pid), `--nofile=${descriptors}:`]);
}
