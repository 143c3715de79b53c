import type { ChildProcess } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import type { DemoJobs } from './open.js';
import { amountOfBytes } from '../../core/quantity/amount.js';
import type { DemoNode } from './demo-node.js';

const MIB = 1n << 20n;
/** Memory that the rest of the machine, and evictd, may use during the demo without meeting the threshold. */
const MARGIN_BYTES = 512n * MIB;
/** Limit of a leak. */
const MAX_BYTES = 2048n * MIB;
const REMOVE_WITHIN_MS = 10_000;
const REMOVE_RETRY_MS = 20;

/** On Windows the node is the machine, and each workload a job object. */
export class JobNode implements DemoNode {
  readonly detached = false; // a detached process gets a console window
  readonly inMemory = undefined;
  readonly oomKillSource = undefined;
  readonly #jobs: DemoJobs;
  readonly #names: readonly string[];
  readonly #prefix = `evictd-demo-${String(process.pid)}-`;
  #thresholdBytes: bigint;

  constructor(jobs: DemoJobs, names: readonly string[]) {
    this.#jobs = jobs;
    this.#names = names;
    this.#thresholdBytes = jobs.memory().available - MARGIN_BYTES;
    for (const name of names) jobs.make(this.nameOf(name), MAX_BYTES);
  }

  get introduction(): string {
    return `the node is this machine; evictd evicts one of three jobs when ${amountOfBytes(MARGIN_BYTES)} less are available than now`;
  }

  get limitBytes(): bigint {
    return MAX_BYTES;
  }

  get thresholdBytes(): bigint {
    return this.#thresholdBytes;
  }

  get described(): DemoNode['described'] {
    const { capacity } = this.#jobs.memory();
    return {
      cgroup: null,
      cgroupVersion: null,
      limitBytes: Number(capacity),
      threshold: `memory.available<${String(this.#thresholdBytes)}`,
    };
  }

  nameOf(name: string): string {
    return this.#prefix + name;
  }

  settings(): Readonly<Record<string, unknown>> {
    this.#thresholdBytes = this.#jobs.memory().available - MARGIN_BYTES;
    return {
      evictionHard: { 'memory.available': String(this.#thresholdBytes), 'nodefs.available': '0%' },
      workloads: this.#names.map((name) => ({ job: this.nameOf(name) })),
    };
  }

  command(_name: string, [program = '', ...args]: readonly string[]): readonly [string, ...string[]] {
    return [program, ...args];
  }

  started(name: string, pid: number): void {
    this.#jobs.add(this.nameOf(name), pid);
  }

  stop(_evictd: ChildProcess, directory: string): void {
    this.#jobs.askToStop(directory);
  }

  workingSetBytes(name?: string): bigint {
    const used = (one: string): bigint => this.#jobs.usedBytes(this.nameOf(one));
    return name === undefined ? this.#names.reduce((sum, one) => sum + used(one), 0n) : used(name);
  }

  processes(name: string): readonly number[] {
    return this.#jobs.processes(this.nameOf(name));
  }

  oomKills(): number {
    return 0;
  }

  async remove(): Promise<string | undefined> {
    const left = (): readonly number[] => this.#names.flatMap((name) => this.processes(name));
    const deadline = performance.now() + REMOVE_WITHIN_MS;
    for (const name of this.#names) this.#jobs.end(this.nameOf(name));
    while (left().length > 0 && performance.now() < deadline) await pause(REMOVE_RETRY_MS);
    const pids = left();
    this.#jobs.close();
    return pids.length === 0 ? undefined : `processes of the demo could not be ended: ${pids.join(', ')}`;
  }
}
