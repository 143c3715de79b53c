import { degraded, ok, type Check } from './check.js';
import type { PressureFacts } from './facts/kernel.js';

const ID = 'kernel.pressure-window';

/** What everybody may have; shorter ones take CAP_SYS_RESOURCE (kernel/sched/psi.c, psi_trigger_create). */
const UNPRIVILEGED_US = 2_000_000;

/** The shortest window of a PSI trigger: how soon the kernel tells that tasks wait. Nothing to say where there is no PSI. */
export function checkPressureWindow({ state, window }: PressureFacts): Check[] {
  if (state !== 'on' || window === undefined) return [];
  if ('refused' in window) {
    const fix = "run evictd as root; in a container, give it the host's /proc/pressure writable";
    return [degraded(ID, `the kernel takes no trigger: ${window.refused}`, fix, { refused: window.refused })];
  }
  const { shortestUs } = window;
  const details = { shortestMs: shortestUs / 1_000 };
  const summary = `the shortest window is ${String(shortestUs / 1_000)} ms`;
  if (shortestUs < UNPRIVILEGED_US) return [ok(ID, summary, details)];
  return [degraded(ID, `${summary}: the kernel tells of pressure up to that much later`, 'grant CAP_SYS_RESOURCE', details)];
}
