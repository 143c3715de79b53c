import { cpus, loadavg, release, totalmem, type } from 'node:os';
import { memoryController } from '../support/cgroup.js';

/** Where and when it was measured. A load above 0.5 before the start means that the machine was busy. */
export function machine(): string {
  return [
    hardware(),
    `${type()} ${release()}, memory controller: cgroup v${String(memoryController()?.version ?? ': none')}`,
    `Node ${process.versions.node}`,
    `${new Date().toISOString()}, load ${(loadavg()[0] ?? 0).toFixed(2)}`,
  ].join('\n');
}

export function hardware(): string {
  const processors = cpus();
  return `${String(processors.length)} × ${processors[0]?.model.trim() ?? 'unknown processor'}, ${String(Math.round(totalmem() / 2 ** 30))} GiB`;
}
