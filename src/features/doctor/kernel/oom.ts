import { degraded, ok, type Check } from '../check.js';
import { defineCheck } from '../check-kind.js';

const ID = 'kernel.oom';

/** undefined: not readable, or this kernel has no such setting. */
interface OomSettings {
  readonly panicOnOom: number | undefined;
  readonly killAllocatingTask: number | undefined;
  readonly minTtlMs: number | undefined;
}

/**
 * What the kernel does if evictd is too late (Documentation/admin-guide/sysctl/vm.rst,
 * admin-guide/mm/multigen_lru.rst).
 */
export const oomCheck = defineCheck(ID, ['kernelFile'], ({ kernelFile }): Check => {
  const settings: OomSettings = {
    panicOnOom: numberIn(kernelFile('/proc/sys/vm/panic_on_oom')),
    killAllocatingTask: numberIn(kernelFile('/proc/sys/vm/oom_kill_allocating_task')),
    minTtlMs: numberIn(kernelFile('/sys/kernel/mm/lru_gen/min_ttl_ms')),
  };
  const found = problemsOf(settings);
  const { panicOnOom = null, killAllocatingTask = null, minTtlMs = null } = settings;
  const details = { panicOnOom, killAllocatingTask, minTtlMs };
  if (found.length === 0) return ok(ID, 'when memory runs out, the kernel kills by oom_score', details);
  return degraded(ID, found.map(({ summary }) => summary).join('; '), [...new Set(found.map(({ fix }) => fix))].join('; '), details);
});

function problemsOf({ panicOnOom, killAllocatingTask, minTtlMs }: OomSettings): { readonly summary: string; readonly fix: string }[] {
  const found = [];
  if (panicOnOom === 1) found.push({ summary: 'panic_on_oom=1: out of memory, the machine panics', fix: 'sysctl vm.panic_on_oom=0' });
  if (panicOnOom === 2) {
    found.push({ summary: 'panic_on_oom=2: the machine panics even if only a cgroup reaches its limit', fix: 'sysctl vm.panic_on_oom=0' });
  }
  if (killAllocatingTask === 1) {
    const summary = 'oom_kill_allocating_task=1: the kernel kills the process that allocates, perhaps evictd, and ignores oom_score_adj';
    found.push({ summary, fix: 'sysctl vm.oom_kill_allocating_task=0' });
  }
  if (minTtlMs !== undefined && minTtlMs > 0) {
    const ms = String(minTtlMs);
    const summary = `lru_gen/min_ttl_ms=${ms}: the kernel kills as soon as the memory used in the last ${ms} ms does not fit`;
    found.push({ summary, fix: 'echo 0 >/sys/kernel/mm/lru_gen/min_ttl_ms' });
  }
  return found;
}

function numberIn(text: string | undefined): number | undefined {
  return text !== undefined && /^-?\d+\s*$/.test(text) ? Number(text) : undefined;
}
