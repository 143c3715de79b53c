import type { NotificationsConfig, NotificationResult } from '../../core/notify/notification.js';
import type { Decision, Outcome } from '../../core/decide/eviction.js';
import type { Host } from '../../host/select.js';
import type { Hierarchies } from '../../host/linux/cgroup/hierarchies.js';
import type { PolicyEffect } from '../../core/policy/policy-action.js';
import type { JournalRecord } from '../../journal/records/record.js';
import type { Binding } from '../../native/binding.js';

export type PolicyNotice = Extract<PolicyEffect, { readonly action: 'notify' }>;

/** One way to make evictions known. No method throws or waits. */
export interface Notifier {
  /** Between the record of a decision and its first signal, so it may take microseconds only. */
  before?(decision: Decision): void;
  over?(outcome: Outcome): void;
  /** The step `notify` of a policy. */
  noticed?(notice: PolicyNotice): void;
  /** A record that is sent as it is. */
  recorded?(record: JournalRecord): void;
  close(): void;
}

export interface NotifierParts {
  readonly node: string;
  readonly hierarchies: Pick<Hierarchies, 'memory' | 'unified'>;
  readonly native: Pick<Binding, 'FilesystemStats' | 'getxattr' | 'setxattr'>;
  readonly host: Pick<Host, 'openCommandRunner' | 'openOomSignal'>;
  /** The first failure is logged, and the first success after it. */
  readonly reportFailure: (error: string) => void;
  /** Reports the result and counts it. */
  readonly report: (result: NotificationResult, error?: string) => void;
}

/** undefined: not configured. */
export type OpenNotifier = (config: NotificationsConfig, parts: NotifierParts) => Notifier | undefined;

/** The evictions that ended a workload: the others have no victim. */
export function hasEnded({ result }: Pick<Outcome, 'result'>): boolean {
  return result === 'killed' || result === 'ineffective';
}
