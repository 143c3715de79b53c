import { readFileSync } from 'node:fs';
import { onTestFinished } from 'vitest';
import { memoryController, testCgroup, type TestCgroup, type TestProcess } from '../support/cgroup.js';
import { until } from './wait.js';

export const MIB = 1024 * 1024;

/** Part of test names: the cgroup version. */
export const ON = `cgroup v${String(memoryController()?.version ?? '?')}`;
export const isV1 = memoryController()?.version === 1;
/** The mechanisms that can report a crossing of memory first. */
export const WATCHES: readonly string[] = isV1 ? ['memcg_threshold', 'sampler'] : ['sampler'];

/** A cgroup that is the node: 512 MiB, so that usage stays far below the kernel's limit. Removed after the test. */
export function testNode(limitBytes = 512n << 20n): TestCgroup {
  const node = testCgroup();
  onTestFinished(() => node.cleanup());
  node.limit(limitBytes);
  return node;
}

/** Met when the working set of the node is above 128 MiB: less than 384 of 512 MiB are available. */
export const ABOVE_128_MIB = { 'memory.available': '384Mi' } as const;

/** The command before evictd that gives it another boot id, in a mount namespace. */
export const ANOTHER_BOOT: readonly string[] = [
  'unshare',
  '--mount',
  'sh',
  '-c',
  'f=$(mktemp) && cat /proc/sys/kernel/random/uuid > $f && mount --bind $f /proc/sys/kernel/random/boot_id && rm $f && exec "$@"',
  'sh',
];

export interface Workload extends TestProcess {
  /** Takes `growsMib` more memory. */
  grow(): void;
  readonly alive: boolean;
  /** Its standard output. */
  readonly said: () => string;
}

export interface WorkloadPlan {
  readonly holdsMib?: number;
  /** On `grow()`. Infinity: as fast as it can until it is killed. */
  readonly growsMib?: number;
  /** What it does on SIGTERM; by default it ends. `say`: it prints `term` and continues. */
  readonly onTerm?: 'ignore' | 'exit' | 'say';
  /** As another user than root. */
  readonly uid?: number;
}

/**
 * In Perl: on an emulated machine Node needs a second to start. A MiB at a time: longer strings are copied, and a
 * larger block would get huge pages, which are all freed at the very end of a process. The OOM killer skips the process
 * a moment earlier (exit_mmap, MMF_OOM_SKIP) and would kill a second one. One thread for the same reason: a process
 * whose threads have all begun to exit is skipped, too (css_task_iter_advance).
 */
const program = ({ holdsMib = 0, growsMib = 0, onTerm, uid = 0 }: WorkloadPlan): string => {
  const term = { ignore: '', say: 'print "term\\n"', exit: 'print "bye\\n"; exit 0' };
  return `
    $| = 1;
    $< = $> = ${String(uid)};
    my @held;
    sub take { push @held, "x" x (1 << 20) for 1 .. shift }
    $SIG{USR2} = sub { ${growsMib === Infinity ? 'take(8) while 1' : `take(${String(growsMib)})`} };
    ${onTerm === undefined ? '' : `$SIG{TERM} = sub { ${term[onTerm]} };`}
    take(${String(holdsMib)});
    print "ready\\n";
    sleep while 1;`;
};

/** Starts a process in a cgroup; resolves when it holds its memory. */
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

/** The part of a configuration that makes `node` the node. */
export function guarding(node: TestCgroup, rules: readonly object[] = []): Record<string, unknown> {
  return { evictionHard: ABOVE_128_MIB, node: { cgroup: node.path }, workloads: [{ cgroup: node.path }], rules };
}

/** Process ids in these cgroups. */
export function processesIn(...cgroups: readonly TestCgroup[]): number[] {
  return cgroups.flatMap(({ dir }) => readFileSync(`${dir}/cgroup.procs`, 'utf8').split('\n').filter(Boolean).map(Number));
}
