import { readFileSync } from 'node:fs';
import { onTestFinished } from 'vitest';
import { memoryController, testCgroup, type TestCgroup, type TestProcess } from '../support/cgroup.js';
import { until } from './wait.js';

export const MIB = 1024 * 1024;

/** Which controller these tests ran on is part of their name. */
export const ON = `cgroup v${String(memoryController()?.version ?? '?')}`;
export const isV1 = memoryController()?.version === 1;
/** What a crossing of memory wakes evictd by: which of two is first is chance. */
export const WATCHES: readonly string[] = isV1 ? ['memcg_threshold', 'sampler'] : ['sampler'];

/** A cgroup that is the node: 512 MiB, so that nothing comes near the kernel's own limit; removed with all in it when the test is over. */
export function testNode(limitBytes = 512n << 20n): TestCgroup {
  const node = testCgroup();
  onTestFinished(() => node.cleanup());
  node.limit(limitBytes);
  return node;
}

/** evictd acts when the node's working set is above 128 MiB: less than 384 of 512 MiB available. */
export const ABOVE_128_MIB = { 'memory.available': '384Mi' } as const;

export interface Workload extends TestProcess {
  /** Takes more memory (`growsMib`, or all that it can get). */
  grow(): void;
  readonly alive: boolean;
  /** What it has said on standard output. */
  readonly said: () => string;
}

export interface WorkloadPlan {
  readonly holdsMib?: number;
  /** On `grow()`. Infinity: until it is killed, as fast as it can. */
  readonly growsMib?: number;
  /** What it does on SIGTERM; by default it dies of it, as processes do. */
  readonly onTerm?: 'ignore' | 'exit';
}

/** A process that holds memory, in a cgroup; resolves when it holds it. */
export async function workload(cgroup: TestCgroup, { holdsMib = 0, growsMib = 0, onTerm }: WorkloadPlan = {}): Promise<Workload> {
  const term = { ignore: '() => undefined', exit: "() => { process.stdout.write('bye\\n'); process.exit(0); }" };
  const program = `
    const take = (mib) => { const block = Buffer.allocUnsafeSlow(mib * ${String(MIB)}); for (let at = 0; at < block.length; at += 4096) block[at] = 1; return block; };
    globalThis.held = [take(${String(holdsMib)})];
    process.on('SIGUSR2', () => { ${growsMib === Infinity ? 'for (;;) held.push(take(8));' : `held.push(take(${String(growsMib)}));`} });
    ${onTerm === undefined ? '' : `process.on('SIGTERM', ${term[onTerm]});`}
    setInterval(() => undefined, 1e6);
    process.stdout.write('ready\\n');`;
  const started = await cgroup.spawn(process.execPath, ['-e', program]);
  let said = '';
  started.child.stdout?.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const running = (): boolean => started.child.exitCode === null && started.child.signalCode === null;
  await until(`the workload in ${cgroup.path} is ready`, () => said.includes('ready') || !running());
  if (!running()) throw new Error(`the workload in ${cgroup.path} has ended`);
  return {
    ...started,
    grow: () => void process.kill(started.pid, 'SIGUSR2'),
    get alive() {
      return running();
    },
    said: () => said,
  };
}

/** What a node configuration for evictd needs to say about `node`. */
export function guarding(node: TestCgroup, rules: readonly object[] = []): Record<string, unknown> {
  return { evictionHard: ABOVE_128_MIB, node: { cgroup: node.path }, workloads: [{ cgroup: node.path }], rules };
}

/** Processes in a cgroup and in all below it. */
export function processesIn(...cgroups: readonly TestCgroup[]): number[] {
  return cgroups.flatMap(({ dir }) => readFileSync(`${dir}/cgroup.procs`, 'utf8').split('\n').filter(Boolean).map(Number));
}
