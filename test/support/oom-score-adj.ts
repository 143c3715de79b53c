import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Workload } from '../../src/core/workload/workload.js';
import type { Log } from '../../src/log/log.js';
import { workload } from '../core/support.js';
import type { TestCgroup } from './cgroup.js';

/** Without it oom_score_adj cannot be lowered below the last value written with it. */
export const hasCapSysResource =
  (BigInt(`0x${/^CapEff:\s*(\w+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0'}`) & (1n << 24n)) !== 0n;

export function adjOf(pid: number): number {
  return Number(readFileSync(`/proc/${String(pid)}/oom_score_adj`, 'latin1'));
}

/** A path in a directory that is removed after the test. */
export function freshFile(): string {
  const directory = mkdtempSync('/dev/shm/evictd-test-');
  onTestFinished(() => {
    rmSync(directory, { recursive: true, force: true });
  });
  return join(directory, 'file');
}

/** A FIFO: reading waits for a writer. */
export function freshFifo(): string {
  const path = freshFile();
  execFileSync('mkfifo', [path]);
  return path;
}

export function machineWorkload({ path, dir }: TestCgroup, changes: Partial<Workload> = {}): Workload {
  const startOrder = statSync(dir, { bigint: true }).ino;
  const name = path.slice(path.lastIndexOf('/') + 1);
  return workload(name, { id: `${path}#${String(startOrder)}`, path, startOrder, ...changes });
}

/** Keeps warnings and information apart. */
export class CollectedLog implements Log {
  readonly lines: string[] = [];
  readonly codes: unknown[] = [];
  readonly information: string[] = [];
  readonly dropped = 0;

  debug(): void {
    // not looked at
  }
  info(message: string): void {
    this.information.push(message);
  }
  warn(message: string, fields: Readonly<Record<string, unknown>> = {}): void {
    this.lines.push(message);
    this.codes.push(fields.code);
  }
  error(message: string, fields: Readonly<Record<string, unknown>> = {}): void {
    this.warn(message, fields);
  }
  flush(): Promise<void> {
    return Promise.resolve();
  }
}
