import { join } from 'node:path';
import { selectHost } from '../../host/select.js';
import { lockHolder } from '../../host/windows/windows-lock-files.js';
import { commitAvailable } from '../../host/windows/windows-memory.js';
import { askByFile } from '../../host/windows/request-file.js';
import { native } from '../../native/index.js';
import { asWindows } from '../../native/windows-addon.js';
import type { Job } from '../../native/windows-binding.js';

/** The demo's jobs on Windows, and the memory that the machine has left. */
export interface DemoJobs {
  memory(): { readonly available: bigint; readonly capacity: bigint };
  /** @param mostBytes  its commit limit */
  make(name: string, mostBytes: bigint): void;
  add(name: string, pid: number): void;
  processes(name: string): readonly number[];
  usedBytes(name: string): bigint;
  end(name: string): void;
  askToStop(runtimeDirectory: string): void;
  close(): void;
}

/** undefined: this is not Windows. */
export function openDemoJobs(): DemoJobs | undefined {
  const { os, instanceName } = selectHost();
  if (os !== 'windows') return undefined;
  const addon = asWindows(native);
  const jobs = new Map<string, Job>();
  const processes = (name: string): readonly number[] => jobs.get(name)?.processes() ?? [];
  return {
    memory: () => commitAvailable(addon.performanceInfo(), 0n),
    make: (name, mostBytes) => {
      const job = new addon.Job(name, true);
      jobs.set(name, job);
      job.setCommitLimit(mostBytes);
    },
    add: (name, pid) => {
      const createdAt = addon.processes().find((process) => process.pid === pid)?.createdAt ?? 0n;
      const handle = new addon.ProcessHandle(pid, createdAt, () => undefined);
      try {
        jobs.get(name)?.assign(handle);
      } finally {
        handle.close();
      }
    },
    processes,
    usedBytes: (name) => {
      const pids = new Set(processes(name));
      return addon.processes().reduce((sum, { pid, privateBytes }) => (pids.has(pid) ? sum + privateBytes : sum), 0n);
    },
    end: (name) => {
      jobs.get(name)?.terminate(1);
    },
    askToStop: (runtimeDirectory) => {
      const lock = join(runtimeDirectory, `${instanceName({ cgroup: undefined })}.lock`);
      const pid = lockHolder(lock);
      if (pid !== undefined) askByFile(lock, pid, 'stop');
    },
    close: () => {
      for (const job of jobs.values()) job.close();
      jobs.clear();
    },
  };
}
