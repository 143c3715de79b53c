import type { TestCgroup, TestProcess } from './cgroup.js';

/** Starts a process that fills `mebibytes` with anonymous memory and keeps it: tail keeps what it cannot write yet. */
export function holdMemory(cgroup: TestCgroup, mebibytes: number): Promise<TestProcess> {
  const bytes = String(mebibytes * 1024 * 1024);
  return cgroup.spawn('/bin/sh', ['-c', `head -c ${bytes} /dev/zero | tail -c ${bytes} | sleep 600`]);
}
