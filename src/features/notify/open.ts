import { isDeepStrictEqual } from 'node:util';
import type { Config } from '../../config/config.js';
import { configuredKinds, type NotificationKind, type NotificationsConfig } from '../../core/notify/notification.js';
import type { Decision } from '../../core/decide/eviction.js';
import { victimName } from '../../core/workload/process.js';
import { selectHost } from '../../host/select.js';
import type { JournalRecord } from '../../journal/records/record.js';
import type { Log } from '../../log/log.js';
import { EFFECTS } from '../../monitor/effects/table.js';
import type { Metrics } from '../../monitor/ports/metrics.js';
import type { StepListener } from '../../monitor/ports/ports.js';
import { openDesktop } from './desktop.js';
import { openKernelLogLine } from './kernel-log-line.js';
import { openKilledSignal } from './killed-signal.js';
import type { Notifier, NotifierParts, OpenNotifier, PolicyNotice } from './notifier.js';
import { openWebhook } from './webhook.js';
import { openXattrs } from './xattrs.js';

/** Every kind. To add one, write a file beside the others and add it here. */
export const NOTIFIERS: Readonly<Record<NotificationKind, OpenNotifier>> = {
  webhook: openWebhook(),
  desktop: openDesktop(),
  killedSignal: openKilledSignal,
  kernelLog: openKernelLogLine(),
  xattrs: openXattrs,
};

export interface NotificationParts extends Pick<NotifierParts, 'node' | 'hierarchies' | 'native'> {
  readonly dryRun: boolean;
  readonly log: Pick<Log, 'info' | 'warn'>;
  readonly metrics: Pick<Metrics, 'notified'>;
}

/** The kinds that make the step `notify` of a policy known, too. */
const POLICY_KINDS: ReadonlySet<NotificationKind> = new Set(['webhook', 'desktop']);

type Wake = Parameters<StepListener['stepped']>[0]['wake'];

/** Makes evictions, alerts and the step `notify` known. Nothing of it throws or delays anything. */
export class Notifications implements StepListener {
  readonly #parts: NotificationParts;
  readonly #table: Readonly<Record<NotificationKind, OpenNotifier>>;
  #config: NotificationsConfig | undefined;
  #kinds: readonly NotificationKind[] = [];
  #open: readonly Notifier[] = [];
  /** The kinds that fail, which was logged. */
  readonly #failing = new Set<NotificationKind>();

  constructor(config: Pick<Config, 'notifications'>, parts: NotificationParts, table = NOTIFIERS) {
    this.#parts = parts;
    this.#table = table;
    this.configure(config);
  }

  /** Notifications that wait are lost where anything has changed. */
  configure({ notifications }: Pick<Config, 'notifications'>): void {
    if (isDeepStrictEqual(notifications, this.#config)) return;
    this.#config = notifications;
    this.close();
    this.#kinds = configuredKinds(notifications);
    if (this.#parts.dryRun) return;
    const host = selectHost();
    this.#open = this.#kinds.flatMap((kind) => {
      const reportFailure: NotifierParts['reportFailure'] = (error) => {
        this.#reportFailure(kind, error);
      };
      const report: NotifierParts['report'] = (result, error) => {
        this.#parts.metrics.notified(kind, result);
        if (error !== undefined) reportFailure(error);
        else if (this.#failing.delete(kind)) this.#parts.log.info(`notifications.${kind} works again`);
      };
      return this.#table[kind](notifications, { ...this.#parts, host, reportFailure, report }) ?? [];
    });
  }

  before(decision: Decision): void {
    for (const notifier of this.#open) notifier.before?.(decision);
  }

  stepped({ effects, wake }: Pick<Parameters<StepListener['stepped']>[0], 'effects'> & { readonly wake: Wake }): void {
    for (const effect of effects) {
      if (effect.kind === 'evict') this.#evicting(effect.decision);
      else if (effect.kind === 'outcome') {
        for (const notifier of this.#open) notifier.over?.(effect.outcome);
        this.#recorded(EFFECTS.outcome.record?.(effect, { wake, timesOf: () => undefined }));
      } else if (effect.kind === 'alert') this.#recorded(EFFECTS.alert.record?.(effect, { wake, timesOf: () => undefined }));
      else if (effect.kind === 'policy' && effect.action === 'notify') this.#noticed(effect, wake);
    }
  }

  close(): void {
    for (const notifier of this.#open) notifier.close();
    this.#open = [];
  }

  /** A standing order has sent its signal already. */
  #evicting(decision: Decision): void {
    const { dryRun, standingOrder, victim } = decision;
    if (standingOrder !== undefined) this.before(decision);
    if (dryRun) this.#wouldNotify(`the eviction of ${victimName(victim)}`, this.#kinds, { decision: decision.serial });
  }

  #noticed(notice: PolicyNotice, wake: Wake): void {
    const { policy, dryRun } = notice;
    if (dryRun) {
      const kinds = this.#kinds.filter((kind) => POLICY_KINDS.has(kind));
      this.#wouldNotify(`policy ${policy}`, kinds, { policy });
      return;
    }
    for (const notifier of this.#open) notifier.noticed?.(notice);
    this.#recorded(EFFECTS.policy.record?.(notice, { wake, timesOf: () => undefined }));
  }

  #wouldNotify(of: string, kinds: readonly NotificationKind[], fields: Parameters<Log['info']>[1]): void {
    if (kinds.length > 0) this.#parts.log.info(`dry run: would notify of ${of}: ${kinds.join(', ')}`, fields);
  }

  #recorded(record: JournalRecord | undefined): void {
    if (record === undefined) return;
    for (const notifier of this.#open) notifier.recorded?.(record);
  }

  #reportFailure(kind: NotificationKind, error: string): void {
    if (this.#failing.has(kind)) return;
    this.#failing.add(kind);
    this.#parts.log.warn(`notifications.${kind}: ${error}; evictions go on`, { code: 'EVICTD_NOTIFICATION' });
  }
}
