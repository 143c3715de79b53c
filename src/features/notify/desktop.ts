import type { Decision } from '../../core/decide/eviction.js';
import { policyReasonText } from '../../core/message/policy-message.js';
import { printable } from '../../core/name/printable.js';
import { amountOfBytes } from '../../core/quantity/amount.js';
import type { Resource } from '../../core/signal/signal.js';
import type { LimitedCommand } from '../../core/systemd/limited-command.js';
import { readFilesystems } from '../../native/filesystem-answer.js';
import { victimName } from '../../core/workload/process.js';
import { hasEnded, type OpenNotifier } from './notifier.js';

const BUSCTL = '/usr/bin/busctl';
const TIMEOUT_NS = 10_000_000_000n;
const MEMORY_MAX_BYTES = 64n << 20n;
/** The maximum number of notifications at the same time: a bus that hangs takes each to its timeout. */
const MAX_RUNNING = 4;

const SHORTAGES: Readonly<Record<Resource, string>> = {
  memory: 'The machine was short of memory',
  'ephemeral-storage': 'The machine was short of disk space',
  inodes: 'A disk of the machine was short of inodes',
  pids: 'The machine was short of process ids',
};

/**
 * Shows a notification to the user whose unit was ended, or in whose slice a policy has the step `notify`. A user's bus
 * admits only that user, and evictd cannot become another user: busctl runs as a unit of systemd.
 */
export const openDesktop =
  (runtimes = '/run/user'): OpenNotifier =>
  ({ desktop }, { host, native, report }) => {
    if (!desktop) return undefined;
    const runner = host.openCommandRunner();
    let running = 0;
    const send = async (uid: number, shown: Shown): Promise<void> => {
      // On a thread of its own: users may mount a filesystem there that hangs.
      const bus = `${runtimes}/${String(uid)}/bus`;
      if (!(await readFilesystems(native, [bus])).has(bus)) return;
      const error = await runner.run(notifyCommand(uid, shown, runtimes));
      report(error === undefined ? 'sent' : 'failed', error);
    };
    const notify = (uid: number, shown: Shown): void => {
      if (running >= MAX_RUNNING) {
        report('dropped', `${String(MAX_RUNNING)} desktop notifications are in flight`);
        return;
      }
      running += 1;
      void send(uid, shown).finally(() => {
        running -= 1;
      });
    };
    return {
      over: (outcome) => {
        const uid = userOf(outcome.decision.victim.workload.path);
        if (uid !== undefined && hasEnded(outcome)) notify(uid, endedNotification(outcome.decision));
      },
      noticed: (notice) => {
        const uid = userOf(`${notice.scope}/`);
        if (uid !== undefined) notify(uid, { summary: `Policy ${notice.policy}`, body: policyReasonText(notice) });
      },
      close: () => undefined,
    };
  };

/** '/user.slice/user-1000.slice/…' → 1000; undefined: no user's. */
export function userOf(path: string): number | undefined {
  const [, uid] = /^\/user\.slice\/user-(\d{1,10})\.slice\//.exec(path) ?? [];
  return uid === undefined ? undefined : Number(uid);
}

/** Plain text. */
interface Shown {
  readonly summary: string;
  readonly body: string;
}

export function endedNotification({ victim, resource }: Pick<Decision, 'victim' | 'resource'>): Shown {
  const name = printable(victimName(victim));
  const bytes = victim.process?.residentBytes ?? victim.stats?.usageBytes;
  const used = bytes === undefined ? '' : ` It used ${amountOfBytes(bytes)} of memory.`;
  return { summary: `${name} was ended`, body: `${SHORTAGES[resource]}, and evictd ended ${name}.${used}` };
}

/**
 * org.freedesktop.Notifications.Notify (Desktop Notifications Specification 1.2). The body is markup. `--`: busctl looks
 * for options after its verb, too.
 */
function notifyCommand(uid: number, { summary, body }: Shown, runtimes: string): LimitedCommand {
  const service = 'org.freedesktop.Notifications';
  const call = ['call', service, '/org/freedesktop/Notifications', service, 'Notify', 'susssasa{sv}i'];
  // Its arguments: application, replaces, icon, summary, body, no actions, one hint (urgency, a byte), the usual duration.
  const values = ['evictd', '0', 'dialog-warning', printable(summary), markup(printable(body)), '0', '1', 'urgency', 'y', '2', '-1'];
  const runtime = `${runtimes}/${String(uid)}`;
  return {
    purpose: 'notify',
    name: 'desktop',
    argv: [BUSCTL, '--user', '--timeout=5', '--quiet', '--', ...call, ...values],
    environment: { XDG_RUNTIME_DIR: runtime, DBUS_SESSION_BUS_ADDRESS: `unix:path=${runtime}/bus` },
    uid,
    timeoutNs: TIMEOUT_NS,
    memoryMaxBytes: MEMORY_MAX_BYTES,
  };
}

function markup(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
