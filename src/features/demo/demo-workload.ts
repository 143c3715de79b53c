import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { UnavailableError } from '../../errors.js';
import type { DemoNode } from './demo-node.js';

const MIB = 1024 * 1024;

export interface WorkloadPlan {
  readonly name: string;
  readonly what: string;
  /** Allocated at the start. */
  readonly holdsBytes: number;
  readonly leaks: boolean;
}

export const WORKLOADS: readonly WorkloadPlan[] = [
  { name: 'db', what: 'critical: never evicted', holdsBytes: 48 * MIB, leaks: false },
  { name: 'web', what: 'requests 64MiB and uses less', holdsBytes: 24 * MIB, leaks: false },
  { name: 'batch', what: 'priority -10, will leak', holdsBytes: 0, leaks: true },
];

/** Writes 'ready', then answers each input, or leaks on the first. Ends with the demo. */
function program({ holdsBytes, leaks }: WorkloadPlan): string {
  const leak = `for (const kept = []; ; ) {
    const block = Buffer.allocUnsafeSlow(${String(8 * MIB)});
    for (let at = 0; at < block.length; at += 4096) block[at] = 1;
    kept.push(block);
  }`;
  return `globalThis.held = Buffer.alloc(${String(holdsBytes)}, 1);
  process.stdin.on('end', () => process.exit()).on('data', () => { ${leaks ? leak : "process.stdout.write('here\\n');"} });
  process.stdout.write('ready\\n');`;
}

export class DemoWorkload {
  readonly plan: WorkloadPlan;
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #ended: Promise<unknown>;
  #stderr = '';

  constructor(plan: WorkloadPlan, node: DemoNode) {
    this.plan = plan;
    const [command, ...args] = node.command(plan.name, [process.execPath, '-e', program(plan)]);
    this.#child = spawn(command, args, { detached: node.detached, windowsHide: true, stdio: ['pipe', 'pipe', 'pipe'] });
    if (this.#child.pid !== undefined) node.started(plan.name, this.#child.pid);
    this.#child.stdin.on('error', () => undefined); // it ended; `running` tells
    this.#child.stderr.on('data', (text: Buffer) => (this.#stderr += text.toString()));
    this.#ended = new Promise((resolve) => this.#child.once('exit', resolve).once('error', resolve));
  }

  /** Resolves when it has allocated its memory. */
  async ready(signal: AbortSignal): Promise<void> {
    await Promise.race([once(this.#child.stdout, 'data', { signal }), this.#ended]);
    if (this.running) return;
    const why = this.#stderr.trim().split('\n').at(-1) ?? '';
    throw new UnavailableError('EVICTD_DEMO_WORKLOAD', `cannot start ${this.plan.name}: ${why}`, {
      hint: 'the demo must move processes into cgroups: run it as root, or in a delegated cgroup',
    });
  }

  get running(): boolean {
    return this.#child.pid !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Signal or exit code; undefined: still running. */
  get end(): string | undefined {
    const { signalCode, exitCode } = this.#child;
    return signalCode ?? (exitCode === null ? undefined : `exit code ${String(exitCode)}`);
  }

  leak(): void {
    this.#child.stdin.write('now\n');
  }

  async answers(withinMs: number): Promise<boolean> {
    if (!this.running) return false;
    const answer = once(this.#child.stdout, 'data', { signal: AbortSignal.timeout(withinMs) });
    this.#child.stdin.write('there?\n');
    return answer.then(
      () => true,
      () => false,
    );
  }

  /** Lets the demo end before it. */
  release(): void {
    this.#child.unref();
    for (const stream of this.#child.stdio) stream?.destroy();
  }
}
