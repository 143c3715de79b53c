import type { Outcome } from '../../core/decide/eviction.js';
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
/** At the same time: a bus that hangs takes each to its timeout. */
const MAX_RUNNING = 4;

const SHORTAGES: Readonly<Record<Resource, string>> = {
  memory: 'The machine was short of memory',
  'ephemeral-storage': 'The machine was short of disk space',
  inodes: 'A disk of the machine was short of inodes',
  pids: 'The machine was short of process ids',
};

/**
 * Shows a notification to the user whose unit was ended. A user's bus admits only that user, and evictd cannot become
 * another user: busctl runs as a unit of systemd.
 */
export const openDesktop =
  (runtimes = '/run/user'): OpenNotifier =>
  ({ desktop }, { host, native, report }) => {
    if (!desktop) return undefined;
    const runner = host.openCommandRunner();
    let running = 0;
    const notify = async (uid: number, outcome: Outcome): Promise<void> => {
      // On a thread of its own: users may mount a filesystem there that hangs.
      const bus = `${runtimes}/${String(uid)}/bus`;
      if (!(await readFilesystems(native, [bus])).has(bus)) return;
      const error = await runner.run(notifyCommand(uid, outcome, runtimes));
      report(error === undefined ? 'sent' : 'failed', error);
    };
    return {
      over: (outcome) => {
        const uid = userOf(outcome.decision.victim.workload.path);
        if (uid === undefined || !hasEnded(outcome)) return;
        if (running >= MAX_RUNNING) {
          report('dropped', `${String(MAX_RUNNING)} desktop notifications are in flight`);
          return;
        }
        running += 1;
        void notify(uid, outcome).finally(() => {
          running -= 1;
        });
      },
      close: () => undefined,
    };
  };

/** '/user.slice/user-1000.slice/…' → 1000; undefined: no user's. */
export function userOf(path: string): number | undefined {
  const [, uid] = /^\/user\.slice\/user-(\d{1,10})\.slice\//.exec(path) ?? [];
  return uid === undefined ? undefined : Number(uid);
}

/**
 * org.freedesktop.Notifications.Notify (Desktop Notifications Specification 1.2). The body is markup. `--`: busctl looks
 * for options after its verb, too.
 */
export function notifyCommand(uid: number, { decision }: Pick<Outcome, 'decision'>, runtimes: string): LimitedCommand {
  const { victim, resource } = decision;
  const name = printable(victimName(victim));
  const bytes = victim.process?.residentBytes ?? victim.stats?.usageBytes;
  const used = bytes === undefined ? '' : ` It used ${amountOfBytes(bytes)} of memory.`;
  const body = `${SHORTAGES[resource]}, and evictd ended ${name}.${used}`;
  const service = 'org.freedesktop.Notifications';
  const call = ['call', service, '/org/freedesktop/Notifications', service, 'Notify', 'susssasa{sv}i'];
  // Its arguments: application, replaces, icon, summary, body, no actions, one hint (urgency, a byte), the usual duration.
  const values = ['evictd', '0', 'dialog-warning', `${name} was ended`, markup(body), '0', '1', 'urgency', 'y', '2', '-1'];
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
