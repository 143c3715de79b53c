import { formatDuration } from '../core/duration.js';
import { thresholdId, whenText, type Threshold, type ThresholdKind } from '../core/threshold.js';
import type { ListItem } from './layered.js';
import { keyText } from './key.js';
import type { Profile } from './profile.js';
import type { Report } from './report.js';
import type { Operands } from './when.js';

/** An entry of the list `thresholds`. */
export interface ThresholdEntry {
  readonly when: Operands;
  readonly kind: ThresholdKind;
  readonly gracePeriodNs: bigint;
}

/** The shortest and the longest share of time that the kernel has triggers for (kernel/sched/psi.c, WINDOW_MIN_US, WINDOW_MAX_US). */
export const PRESSURE_WINDOW_NS = { least: 500_000_000n, most: 10_000_000_000n } as const;

/** Every entry that can be one, in the order of the files; what is wrong with another is in the report. */
export function listedThresholds(items: readonly ListItem<ThresholdEntry>[], { compatibility }: Profile, report: Report): Threshold[] {
  const [first] = items;
  if (compatibility === 'kubelet' && first !== undefined) {
    report.issue(
      'EVICTD_CONFIG_PROFILE',
      "thresholds is evictd's own: with compatibility: kubelet evictd decides as a kubelet does, which has no such list",
      first.layer.keyAt(['thresholds']),
      'remove it, or write compatibility: evictd',
    );
    return [];
  }
  const seen = new Map<string, string>();
  return items.flatMap(({ value, layer, path }): Threshold[] => {
    const threshold = thresholdOf(value);
    const id = thresholdId(threshold);
    const before = seen.get(id);
    if (before === undefined) {
      seen.set(id, keyText(path));
      return [threshold];
    }
    const held = threshold.gracePeriodNs > 0n ? ` for ${formatDuration(threshold.gracePeriodNs)}` : '';
    const message = `${keyText(path)}: ${whenText(threshold)} (${value.kind}${held}) stands twice, first as ${before}`;
    report.issue('EVICTD_CONFIG_DUPLICATE_KEY', message, layer.at(path), 'remove one of them');
    return [];
  });
}

function thresholdOf({ when: [starved, ...also], kind, gracePeriodNs }: ThresholdEntry): Threshold {
  return { ...starved, gracePeriodNs, minReclaim: undefined, kind, ...(also.length === 0 ? {} : { also }) };
}
