import { degraded, ok, type Check } from '../check.js';
import { defineCheck } from '../check-kind.js';
import type { PressureFacts } from '../../../host/facts/kernel-facts.js';

const ID = 'kernel.pressure-window';

/** A shorter window needs CAP_SYS_RESOURCE (kernel/sched/psi.c, psi_trigger_create). */
const UNPRIVILEGED_US = 2_000_000;

/** The window of a PSI trigger is the latency of its notification. */
export function checkPressureWindow({ state, window }: PressureFacts): Check[] {
  if (state !== 'on' || window === undefined) return [];
  if ('refused' in window) {
    const fix = "run evictd as root; in a container, mount the host's /proc/pressure writable";
    return [degraded(ID, `the kernel refused a PSI trigger: ${window.refused}`, fix, { refused: window.refused })];
  }
  const { shortestUs } = window;
  const details = { shortestMs: shortestUs / 1_000 };
  const summary = `the shortest PSI window is ${String(shortestUs / 1_000)} ms`;
  if (shortestUs < UNPRIVILEGED_US) return [ok(ID, summary, details)];
  return [degraded(ID, `${summary}: the kernel may report pressure that late`, 'grant CAP_SYS_RESOURCE', details)];
}

export const pressureWindowCheck = defineCheck(ID, ['pressure'], ({ pressure }) => checkPressureWindow(pressure));
