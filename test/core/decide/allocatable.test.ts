import { expect, test } from 'vitest';
import type { Signal } from '../../../src/core/signal/signal.js';
import { candidates, Mi, policy, threshold, workload } from '../support.js';
import { Timeline } from '../timeline.js';

const thresholds = [threshold('allocatableMemory.available', '100Mi'), threshold('memory.available', '100Mi')];
const short = (signal: Signal): Partial<Record<Signal, bigint>> => ({ [signal]: 50n * Mi });

test.each<[rule: string, paths: string[], signal: Signal, said: string]>([
  [
    'the largest workload in the shared cgroup is evicted',
    ['/other/big', '/pods/small'],
    'allocatableMemory.available',
    'evict /pods/small grace 0',
  ],
  ['the shared cgroup is a workload itself, and is evicted', ['/other/big', '/pods'], 'allocatableMemory.available', 'evict /pods grace 0'],
  ['a workload that contains the shared cgroup is evicted', ['/podsother', '/'], 'allocatableMemory.available', 'evict / grace 0'],
  [
    'no workload is evicted if none is in the shared cgroup',
    ['/other/big', '/podsother'],
    'allocatableMemory.available',
    'alert nothing-evictable',
  ],
  ['the shared cgroup is ignored for memory of the node', ['/other/big', '/pods/small'], 'memory.available', 'evict /other/big grace 0'],
])('memory of the cgroup that workloads share is short: %s', (_rule, paths, signal, said) => {
  const all = candidates(
    ...paths.map((path, index): [ReturnType<typeof workload>, bigint] => [workload(path, { path }), 300n * Mi - BigInt(index)]),
  );
  expect(new Timeline(policy(thresholds, { allocatableCgroup: '/pods' }), all).effects(0, short(signal)).at(-1)).toBe(said);
});

test('without a known cgroup every workload may be evicted, as with a kubelet', () => {
  const all = candidates([workload('a', { path: '/other/a' }), 300n * Mi]);
  expect(new Timeline(policy(thresholds), all).effects(0, short('allocatableMemory.available')).at(-1)).toBe('evict a grace 0');
});
