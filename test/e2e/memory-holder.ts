import type { TestCgroup, TestProcess } from '../support/cgroup.js';
import { MIB, type Workload } from './node.js';
import { until } from './wait.js';

export type MemoryHolder = TestProcess & Pick<Workload, 'alive'>;

/**
 * A process of one thread that holds memory, in a cgroup; resolves when it holds it.
 *
 * One thread, because the kernel's OOM killer within a memcg does not look at a process all of whose threads have begun to end, though one of them may
 * still have the memory (css_task_iter_advance): where whoever asks tries again in this moment, a second process dies.
 */
export async function memoryHolder(cgroup: TestCgroup, holdsMib: number): Promise<MemoryHolder> {
  // Its block is full before the first byte is written, and nobody reads.
  const started = await cgroup.spawn('dd', ['if=/dev/zero', `bs=${String(holdsMib * MIB)}`, 'count=1']);
  const { child, pid } = started;
  child.stdout?.pause();
  const running = (): boolean => child.exitCode === null && child.signalCode === null;
  await until(`process ${String(pid)} holds its memory`, () => !running() || (child.stdout?.readableLength ?? 0) > 0);
  if (!running()) throw new Error(`the process that holds memory in ${cgroup.path} has ended`);
  return {
    ...started,
    get alive() {
      return running();
    },
  };
}
