import type { Layout } from '../signal/layout.js';
import type { Signal } from '../signal/signal.js';
import { isListed, thresholdKind, type Threshold, type ThresholdKind } from '../threshold/threshold.js';

/**
 * `containerfs-only`: a container filesystem is reported, but no image filesystem. The kubelet then derives nothing.
 */
export type ReportedLayout = Layout | 'containerfs-only';

/**
 * Thresholds configured for the container filesystem are not used, and a warning says so. It takes those of the
 * filesystem that it lies on.
 */
export interface ContainerFsThresholds {
  readonly thresholds: readonly Threshold[];
  /** The derived thresholds that replace a configured one. The kubelet does not see the others in its first step. */
  readonly replaced: readonly Threshold[];
  /** A threshold of the container filesystem was configured. */
  readonly overridden: boolean;
}

const DERIVED = [
  { signal: 'containerfs.available', ofNode: 'nodefs.available', ofImages: 'imagefs.available' },
  { signal: 'containerfs.inodesFree', ofNode: 'nodefs.inodesFree', ofImages: 'imagefs.inodesFree' },
] as const satisfies readonly { signal: Signal; ofNode: Signal; ofImages: Signal }[];

const KINDS = ['hard', 'soft'] as const satisfies readonly ThresholdKind[];

/**
 * Derives the thresholds of the container filesystem: in the `imagefs` layout from the image filesystem, else from the
 * node filesystem (kubelet: UpdateContainerFsThresholds, eviction/helpers.go, v1.36.2). If that filesystem has no
 * threshold of a kind, the container filesystem has none; the kubelet keeps one with an empty operator, which is never
 * met. Entries of the list `thresholds` are not used. Of two hard thresholds (a soft one without a grace period is
 * hard) the last counts, and only the last configured one is replaced.
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
