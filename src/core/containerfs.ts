import type { Layout } from './layout.js';
import type { Signal } from './signal.js';
import { isListed, thresholdKind, type Threshold, type ThresholdKind } from './threshold.js';

/** `containerfs-only`: a container filesystem is reported and none for images; the kubelet then derives nothing. */
export type ReportedLayout = Layout | 'containerfs-only';

/** What is configured for the container filesystem is not used, as a warning says: it is one of the other two, and has that one's thresholds. */
export interface ContainerFsThresholds {
  readonly thresholds: readonly Threshold[];
  /** Only those that stand in the place of a configured one: in its very first step the kubelet does not see the others. */
  readonly replaced: readonly Threshold[];
  /** Some threshold of the container filesystem was configured. */
  readonly overridden: boolean;
}

const DERIVED = [
  { signal: 'containerfs.available', ofNode: 'nodefs.available', ofImages: 'imagefs.available' },
  { signal: 'containerfs.inodesFree', ofNode: 'nodefs.inodesFree', ofImages: 'imagefs.inodesFree' },
] as const satisfies readonly { signal: Signal; ofNode: Signal; ofImages: Signal }[];

const KINDS = ['hard', 'soft'] as const satisfies readonly ThresholdKind[];

/**
 * The thresholds with those of the container filesystem, which are always derived: from the image filesystem in the `imagefs` layout, else
 * from the node filesystem (kubelet: UpdateContainerFsThresholds, eviction/helpers.go, v1.36.2).
 *
 * Where the other filesystem has no threshold of a kind there is none for containers; the kubelet keeps one with an empty operator, which is
 * never met. Nothing is derived from the list `thresholds`. Of two that are hard (a soft one with a grace period of 0 is) the last counts, and only the last configured one is replaced.
 */
export function updateContainerFsThresholds(thresholds: readonly Threshold[], layout: ReportedLayout): ContainerFsThresholds {
  const overridden = thresholds.some(({ signal }) => DERIVED.some((derived) => derived.signal === signal));
  if (layout === 'containerfs-only') return { thresholds, replaced: thresholds, overridden };
  const last = (signal: Signal, kind: ThresholdKind): Threshold | undefined =>
    thresholds.findLast((threshold) => threshold.signal === signal && thresholdKind(threshold) === kind && !isListed(threshold));
  const replacements = DERIVED.flatMap(({ signal, ofNode, ofImages }) =>
    KINDS.map((kind) => {
      const source = last(layout === 'imagefs' ? ofImages : ofNode, kind);
      const derived: Threshold | undefined = source && { ...source, signal };
      return { configured: last(signal, kind), derived };
    }),
  );
  const kept = thresholds.map((threshold) => {
    const replacement = replacements.find(({ configured }) => configured === threshold);
    return replacement === undefined ? threshold : replacement.derived;
  });
  const added = replacements.filter(({ configured }) => configured === undefined).map(({ derived }) => derived);
  const isThreshold = (threshold: Threshold | undefined): threshold is Threshold => threshold !== undefined;
  return { thresholds: [...kept, ...added].filter(isThreshold), replaced: kept.filter(isThreshold), overridden };
}
