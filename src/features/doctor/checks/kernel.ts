import { broken, degraded, hidden, ok, command } from '../check.js';
import { defineCheck } from '../check-kind.js';
import { type KernelFeature, hasSystemd, isUnseen } from '../../../host/facts.js';
import { PSI_OFF_HINT } from '../../../config/lint/thresholds/readings.js';
import { findingsOf, judged } from '../findings.js';
import { hasCapability } from './process.js';

/** Sources: man 2 pidfd_open; Documentation/admin-guide/cgroup-v2.rst; man 2 process_mrelease. */
const FEATURES: Readonly<Record<KernelFeature, { readonly since: string; readonly without: string }>> = {
  pidfd: { since: '5.3', without: 'evictd cannot end processes safely' },
  'cgroup.kill': { since: '5.14', without: 'evictd ends a cgroup process by process' },
  process_mrelease: { since: '5.15', without: 'the memory of a victim is freed only when it is scheduled' },
};

/** Features are tested, not derived from the version: distributions backport them, sandboxes remove them. */
export const kernelVersionCheck = defineCheck('kernel.version', ['kernel'], ({ kernel: { release, features } }, id) => {
  const names = Object.keys(FEATURES) as KernelFeature[];
  const missing = names.filter((name) => features[name] === false);
  const details = { release, features };
  if (missing.length === 0) {
    const there = names.filter((name) => features[name]);
    return ok(id, `Linux ${release}${there.length === 0 ? '' : `: ${there.join(', ')}`}`, details);
  }
  const lacking = missing.map((name) => `${name} (Linux ${FEATURES[name].since}): ${FEATURES[name].without}`).join('; ');
  const latest = FEATURES[missing.at(-1) ?? 'pidfd'].since;
  const fix = `boot Linux ${latest} or later; in a sandbox, allow ${missing.join(', ')} in its system call filter`;
  return (missing.includes('pidfd') ? broken : degraded)(id, `Linux ${release} lacks ${lacking}`, fix, details);
});

export const pressureCheck = defineCheck('kernel.pressure', ['pressure', 'workloads'], (facts, id) => {
  const { state, built, parameter } = facts.pressure;
  const details = { state, built: built ?? null, parameter: parameter ?? null };
  if (state === 'on' || findingsOf(id, facts.workloads).length > 0) return judged(id, facts.workloads, 'PSI is on', details);
  return degraded(id, 'PSI is off: memory stalls do not wake evictd', PSI_OFF_HINT, details);
});

/** A shorter window needs CAP_SYS_RESOURCE (kernel/sched/psi.c, psi_trigger_create). */
const UNPRIVILEGED_US = 2_000_000;

/** The window of a PSI trigger is the latency of its notification. */
export const pressureWindowCheck = defineCheck('kernel.pressure-window', ['pressure'], ({ pressure: { state, window } }, id) => {
  if (state !== 'on' || window === undefined) return [];
  if ('refused' in window) {
    const fix = "run evictd as root; in a container, mount the host's /proc/pressure writable";
    return [degraded(id, `the kernel refused a PSI trigger: ${window.refused}`, fix, { refused: window.refused })];
  }
  const { shortestUs } = window;
  const details = { shortestMs: shortestUs / 1_000 };
  const summary = `the shortest PSI window is ${String(shortestUs / 1_000)} ms`;
  if (shortestUs < UNPRIVILEGED_US) return [ok(id, summary, details)];
  return [degraded(id, `${summary}: the kernel may report pressure with that delay`, 'grant CAP_SYS_RESOURCE', details)];
});

/** Whether evictd can read OOM kills from /dev/kmsg. */
export const kernelLogCheck = defineCheck(
  'kernel.log',
  ['kernelLog', 'subject', 'service'],
  ({ kernelLog: { refused, restricted }, subject: { kind, effective }, service }, id) => {
    const details = { refused: refused ?? null, restricted: restricted ?? null };
    if (kind === 'this process' || isUnseen(effective)) {
      if (refused === undefined) return ok(id, '/dev/kmsg is readable', details);
      return degraded(id, `cannot read OOM kills from /dev/kmsg: ${refused}`, 'run evictd as root, with CAP_SYSLOG', details);
    }
    if (restricted === false || hasCapability(effective, 'CAP_SYSLOG')) return ok(id, 'the running evictd can read /dev/kmsg', details);
    const summary = 'the running evictd cannot read OOM kills from /dev/kmsg: it lacks CAP_SYSLOG, and kernel.dmesg_restrict is on';
    return degraded(
      id,
      summary,
      hasSystemd(service) ? 'add CAP_SYSLOG to CapabilityBoundingSet of its unit' : 'start it with CAP_SYSLOG',
      details,
    );
  },
);

/** The boot id dates the state that evictd keeps over a restart. */
export const clockCheck = defineCheck('kernel.clock', ['clock'], ({ clock: { bootId, bootTimeNs } }, id) => {
  const details = { bootId: bootId ?? null, upSeconds: bootTimeNs === undefined ? null : Number(bootTimeNs / 1_000_000_000n) };
  if (bootId === undefined) {
    const summary = 'cannot read /proc/sys/kernel/random/boot_id: evictd cannot tell whether its saved state is of this boot';
    return degraded(id, summary, 'mount all of /proc: a sandbox hides a part of it', details);
  }
  return ok(id, `boot ID ${bootId}`, details);
});

const PANIC_ON_OOM = '/proc/sys/vm/panic_on_oom';
const KILL_ALLOCATING_TASK = '/proc/sys/vm/oom_kill_allocating_task';

/** undefined: not readable. */
interface OomSettings {
  readonly panicOnOom: number | undefined;
  readonly killAllocatingTask: number | undefined;
  /** undefined also where the kernel has no such setting. */
  readonly minTtlMs: number | undefined;
}

/**
 * What the kernel does if evictd is too late (Documentation/admin-guide/sysctl/vm.rst,
 * admin-guide/mm/multigen_lru.rst).
 */
export const oomCheck = defineCheck('kernel.oom', ['kernelFile'], ({ kernelFile }, id) => {
  const settings: OomSettings = {
    panicOnOom: numberIn(kernelFile(PANIC_ON_OOM)),
    killAllocatingTask: numberIn(kernelFile(KILL_ALLOCATING_TASK)),
    minTtlMs: numberIn(kernelFile('/sys/kernel/mm/lru_gen/min_ttl_ms')),
  };
  const found = problemsOf(settings);
  const { panicOnOom = null, killAllocatingTask = null, minTtlMs = null } = settings;
  const details = { panicOnOom, killAllocatingTask, minTtlMs };
  const unread = [...(panicOnOom === null ? [PANIC_ON_OOM] : []), ...(killAllocatingTask === null ? [KILL_ALLOCATING_TASK] : [])];
  if (found.length === 0 && unread.length > 0) return hidden(id, 'what the kernel does when memory runs out', unread);
  if (found.length === 0) return ok(id, 'when memory runs out, the kernel kills by oom_score', details);
  return degraded(id, found.map(({ summary }) => summary).join('; '), [...new Set(found.map(({ fix }) => fix))].join('; '), details);
});

function problemsOf({ panicOnOom, killAllocatingTask, minTtlMs }: OomSettings): { readonly summary: string; readonly fix: string }[] {
  const found = [];
  if (panicOnOom === 1) found.push({ summary: 'panic_on_oom=1: out of memory, the machine panics', fix: setting('vm.panic_on_oom=0') });
  if (panicOnOom === 2) {
    found.push({
      summary: 'panic_on_oom=2: the machine panics even if only a cgroup reaches its limit',
      fix: setting('vm.panic_on_oom=0'),
    });
  }
  if (killAllocatingTask === 1) {
    const summary = 'oom_kill_allocating_task=1: the kernel kills the process that allocates, perhaps evictd, and ignores oom_score_adj';
    found.push({ summary, fix: setting('vm.oom_kill_allocating_task=0') });
  }
  if (minTtlMs !== undefined && minTtlMs > 0) {
    const ms = String(minTtlMs);
    const summary = `lru_gen/min_ttl_ms=${ms}: the kernel kills as soon as the memory used in the last ${ms} ms does not fit`;
    found.push({ summary, fix: command('echo 0 >/sys/kernel/mm/lru_gen/min_ttl_ms') });
  }
  return found;
}

/** Now, and at the next boot. */
export function setting(text: string): string {
  return command(`sysctl -w ${text} && echo ${text} >>/etc/sysctl.d/60-evictd.conf`);
}

function numberIn(text: string | undefined): number | undefined {
  return text !== undefined && /^-?\d+\s*$/.test(text) ? Number(text) : undefined;
}
