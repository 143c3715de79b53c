import { degraded, ok, type Check } from './check.js';
import type { OomFacts } from './facts/kernel.js';

const ID = 'kernel.oom';

/** What the kernel does where evictd was not in time (Documentation/admin-guide/sysctl/vm.rst, admin-guide/mm/multigen_lru.rst). */
export function checkOom({ panicOnOom, killAllocatingTask, minTtlMs }: OomFacts): Check {
  const found: { readonly said: string; readonly fix: string }[] = [];
  if (panicOnOom === 1) found.push({ said: 'panic_on_oom=1: out of memory, the machine panics', fix: 'sysctl vm.panic_on_oom=0' });
  if (panicOnOom === 2) {
    const said = 'panic_on_oom=2: a cgroup at its own limit is enough, and the machine panics';
    found.push({ said, fix: 'sysctl vm.panic_on_oom=0' });
  }
  if (killAllocatingTask === 1) {
    const said =
      'oom_kill_allocating_task=1: the kernel kills whoever asks for memory at that moment, evictd included, and oom_score_adj has no say';
    found.push({ said, fix: 'sysctl vm.oom_kill_allocating_task=0' });
  }
  if (minTtlMs !== undefined && minTtlMs > 0) {
    const said = `lru_gen/min_ttl_ms=${String(minTtlMs)}: the kernel kills as soon as what was used in the last ${String(minTtlMs)} ms does not fit any more`;
    found.push({ said, fix: 'echo 0 >/sys/kernel/mm/lru_gen/min_ttl_ms' });
  }
  const details = { panicOnOom: panicOnOom ?? null, killAllocatingTask: killAllocatingTask ?? null, minTtlMs: minTtlMs ?? null };
  if (found.length === 0) return ok(ID, 'out of memory, the kernel kills by oom_score', details);
  return degraded(ID, found.map(({ said }) => said).join('; '), [...new Set(found.map(({ fix }) => fix))].join('; '), details);
}
