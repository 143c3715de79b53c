import type { PolicyCause } from './policy-reason.js';

/** What each reason is about: metrics begin so. The first one that fits counts. */
const REASONS: readonly (readonly [reason: string, metric: RegExp])[] = [
  ['memory-pressure', /^memory\.pressure\./],
  ['memory-used', /^(memory\.(?!swap|events)|allocatableMemory\.)/],
  ['swap-used', /^(swap|memory\.swap)\b/],
  ['io-pressure', /^io\.pressure\./],
  ['cpu-pressure', /^cpu\.pressure\./],
];

/**
 * What a policy acted on, by the metrics that its condition compares: systemd-oomd's reasons (org.freedesktop.oom1(5), where
 * memory-used is memory together with swap), and others in the same form; else the name of the first metric.
 */
export function actionTrigger({ values }: Pick<PolicyCause, 'values'>): string {
  const metrics = Object.keys(values).map((name) => name.replace(/^node\./, ''));
  const [found] = REASONS.find(([, metric]) => metrics.some((name) => metric.test(name))) ?? [];
  return found ?? metrics[0] ?? 'policy';
}
