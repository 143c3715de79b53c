import { formatDuration, NS_PER_SECOND } from '../quantity/duration.js';

export interface KnownDelay {
  readonly kind: 'known';
  readonly maxNs: bigint;
  /** The file that has it. Left out: none, so it is logind's default. */
  readonly setIn?: string;
}

/** How long logind delays a shutdown for holders of a delay inhibitor (InhibitDelayMaxSec=). */
export type InhibitDelay =
  | KnownDelay
  /** Not readable, or no logind. */
  | { readonly kind: 'unknown'; readonly reason: string };

/**
 * evictd learns of a shutdown and reads the workloads after logind's clock has started, and the last group's killed
 * workloads need a second to exit.
 */
const OWN_NS = 2n * NS_PER_SECOND;

/** The delay that logind must allow for the configured grace periods. */
export function neededDelayNs(requestedNs: bigint): bigint {
  return requestedNs + OWN_NS;
}

/** 'the configuration needs 30s, and evictd 2s more' */
export function requestedText(requestedNs: bigint): string {
  return `the configuration needs ${formatDuration(requestedNs)}, and evictd ${formatDuration(OWN_NS)} more`;
}

/** The name of the drop-in of `evictd install`, which systemd takes by name, whatever its directory. */
export const LOGIND_DROP_IN = 'zz-evictd.conf';

/** How to make logind wait long enough. */
export function delayRemedy({ setIn }: KnownDelay, requestedNs: bigint, install = 'evictd install --logind-drop-in'): string {
  const setting = inhibitDelaySetting(requestedNs);
  const winner = laterDropIn(setIn);
  if (winner !== undefined) return `set ${setting} in ${winner}, which sorts after ${LOGIND_DROP_IN} and wins`;
  return `${install}, or ${setting} in /etc/systemd/logind.conf.d/`;
}

/** The file, if its name sorts after that of evictd's drop-in: no `evictd install` changes what it sets. */
export function laterDropIn(setIn: string | undefined): string | undefined {
  const [, name] = /\/logind\.conf\.d\/([^/]+)$/.exec(setIn ?? '') ?? [];
  return name !== undefined && name > LOGIND_DROP_IN ? setIn : undefined;
}

/** undefined: not known. */
export function suffices(delay: InhibitDelay, requestedNs: bigint): boolean | undefined {
  return delay.kind === 'known' ? delay.maxNs >= neededDelayNs(requestedNs) : undefined;
}

/** The setting of logind.conf(5) that allows a long enough delay, rounded up: 'InhibitDelayMaxSec=32'. */
export function inhibitDelaySetting(requestedNs: bigint): string {
  return `InhibitDelayMaxSec=${String((neededDelayNs(requestedNs) + NS_PER_SECOND - 1n) / NS_PER_SECOND)}`;
}
