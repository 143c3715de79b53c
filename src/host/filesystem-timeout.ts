import type { Missing } from './missing-reading.js';

/**
 * After this time without an answer, a filesystem's last answer no longer counts. A local disk answers in microseconds,
 * a busy network filesystem within seconds; the kubelet's figures are at most 10 s old.
 */
const NO_ANSWER_NS = 10_000_000_000n;

/** The reason why no answer counts; undefined: one does. */
export function missingAnswer(
  path: string,
  { pending, pendingSinceNs, atNs }: { readonly pending: boolean; readonly pendingSinceNs: bigint; readonly atNs: bigint },
  nowNs: bigint,
): Missing | undefined {
  const silentNs = pending ? nowNs - pendingSinceNs : 0n;
  if (silentNs >= NO_ANSWER_NS) return { missing: `no answer from the filesystem of ${path} for ${String(silentNs / 1_000_000_000n)} s` };
  return atNs === 0n ? { missing: `${path}: not read yet` } : undefined;
}
