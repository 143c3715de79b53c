/** An HTTP server that gets a message of each eviction. */
export interface WebhookConfig {
  /** http or https. */
  readonly url: string;
  /** A file with the key of the HMAC; undefined: requests are not signed. */
  readonly secretFile: string | undefined;
  /** The timeout of one answer. */
  readonly timeoutNs: bigint;
}

/** How evictd makes evictions known, beside log, journal and metrics. */
export interface NotificationsConfig {
  /** undefined: none. */
  readonly webhook: WebhookConfig | undefined;
  /** Whether to notify the user whose unit was ended. */
  readonly desktop: boolean;
  /** The signal Killed of org.freedesktop.oom1. */
  readonly killedSignal: boolean;
  /** Own the bus name org.freedesktop.oom1, if it is free. */
  readonly oomdBusName: boolean;
  /** A line of the kernel's log as oomd writes it. */
  readonly kernelLog: boolean;
  /** user.oomd_ooms and user.oomd_kill of the victim's cgroup. */
  readonly xattrs: boolean;
}

const NOTIFICATION_KINDS = ['webhook', 'desktop', 'killedSignal', 'kernelLog', 'xattrs'] as const;
export type NotificationKind = (typeof NOTIFICATION_KINDS)[number];

/** `dropped`: too many were waiting. */
export const NOTIFICATION_RESULTS = ['sent', 'failed', 'dropped'] as const;
export type NotificationResult = (typeof NOTIFICATION_RESULTS)[number];

export function configuredKinds(config: NotificationsConfig): readonly NotificationKind[] {
  return NOTIFICATION_KINDS.filter((kind) => config[kind] !== undefined && config[kind] !== false);
}
