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
  /** What it does on SIGTERM; by default it dies of it, as processes do. `say`: it says `term`, and goes on. */
  readonly onTerm?: 'ignore' | 'exit' | 'say';
}

/**
 * In Perl, which is up at once where a Node of its own for each would take an emulated machine a second. A MiB at a time: longer strings are copied, and huge pages, which
 * a larger block would get, all go back together at the very end: the kernel's OOM killer passes over a process a moment earlier (exit_mmap, MMF_OOM_SKIP), and kills one more
 * where somebody asks again then. For the same reason it has one thread: one all of whose threads have begun to end is passed over, too (css_task_iter_advance).
 */
const program = ({ holdsMib = 0, growsMib = 0, onTerm }: WorkloadPlan): string => {
  const term = { ignore: '', say: 'print "term\\n"', exit: 'print "bye\\n"; exit 0' };
  return `
    $| = 1;
    my @held;
    sub take { push @held, "x" x (1 << 20) for 1 .. shift }
    $SIG{USR2} = sub { ${growsMib === Infinity ? 'take(8) while 1' : `take(${String(growsMib)})`} };
    ${onTerm === undefined ? '' : `$SIG{TERM} = sub { ${term[onTerm]} };`}
    take(${String(holdsMib)});
    print "ready\\n";
    sleep while 1;`;
};

/** A process that holds memory, in a cgroup; resolves when it holds it. */
export async function workload(cgroup: TestCgroup, plan: WorkloadPlan = {}): Promise<Workload> {
  const started = await cgroup.spawn('perl', ['-e', program(plan)]);
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
