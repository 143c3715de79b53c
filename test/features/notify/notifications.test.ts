import { expect, test } from 'vitest';
import type { NotificationKind } from '../../../src/core/notify/notification.js';
import type { Effect } from '../../../src/core/decide/effect.js';
import type { JournalRecord } from '../../../src/journal/records/record.js';
import { Notifications, NOTIFIERS } from '../../../src/features/notify/open.js';
import type { NotifierParts, OpenNotifier } from '../../../src/features/notify/notifier.js';
import { Mi, threshold } from '../../core/support.js';
import { decision, NOTHING, notice, outcome, parts } from './evictions.js';

// Which notifier is called when; each has tests of its own.

const CONFIG = { notifications: { ...NOTHING, xattrs: true, kernelLog: true } };
const WAKE = { source: 'tick', atNs: 0n } as const;

function played(dryRun = false) {
  const said: string[] = [];
  let given: Pick<NotifierParts, 'report' | 'reportFailure'> | undefined;
  const open: OpenNotifier = (_config, opened) => {
    given = opened;
    return {
      before: ({ serial }) => said.push(`before ${String(serial)}`),
      over: ({ result }) => said.push(`over ${result}`),
      noticed: ({ policy }) => said.push(`noticed ${policy}`),
      recorded: ({ type, message }: JournalRecord) => said.push(`${type}: ${message}`),
      close: () => said.push('close'),
    };
  };
  const none: OpenNotifier = () => undefined;
  const table = { ...NOTIFIERS, xattrs: open, kernelLog: none } satisfies Record<NotificationKind, OpenNotifier>;
  const lines: string[] = [];
  const log = { info: (line: string) => lines.push(line), warn: (line: string) => lines.push(`warn: ${line}`) };
  const counted: string[] = [];
  const metrics = { notified: (kind: string, result: string) => counted.push(`${kind} ${result}`) };
  const all = new Notifications(CONFIG, { ...parts().parts, dryRun, log, metrics }, table);
  const report = (...args: Parameters<NotifierParts['report']>): void => given?.report(...args);
  return { all, said, lines, counted, report, trouble: (error: string) => given?.reportFailure(error) };
}

const step = (all: Notifications, ...effects: Effect[]): void => all.stepped({ effects, wake: WAKE });

test('every receiver gets an outcome as an effect and as a record', () => {
  const { all, said } = played();
  all.before(decision());
  step(all, { kind: 'evict', decision: decision() });
  step(all, { kind: 'outcome', outcome: outcome() });
  expect(said).toEqual(['before 7', 'over killed', expect.stringMatching(/^outcome: evicted batch/)]);
});

test('an outcome by standing order has no notification before its signal', () => {
  const { all, said } = played();
  step(all, { kind: 'evict', decision: decision({}, { standingOrder: { preparedAtNs: 0n, crossedAtNs: 0n, signalledAtNs: 0n } }) });
  expect(said).toEqual(['before 7']);
});

test('an alert is sent as a record', () => {
  const { all, said } = played();
  const observation = { available: 12n * Mi, capacity: 1024n * Mi, timeNs: undefined, source: 'test' };
  step(all, { kind: 'alert', alert: 'nothing-evictable', threshold: threshold('memory.available', '100Mi'), observation });
  expect(said).toEqual([expect.stringMatching(/^alert: /)]);
});

test('only the step `notify` of a policy is sent, as an effect and as the record of the journal', () => {
  const { all, said } = played();
  const target = { id: 'a', name: 'a', path: '/a' };
  step(
    all,
    notice('/a'),
    { ...notice('/a'), action: 'freeze', target, forNs: 1n },
    { ...notice('/a'), action: 'thaw', target, reason: 'time' },
  );
  expect(said).toEqual(['noticed leaks', 'policy: policy leaks on /a: age > 2h (age 3h)']);
});

test.each<[notifications: object, lines: readonly string[]]>([
  [{ xattrs: true, desktop: true }, ['dry run: would notify of policy leaks: desktop']],
  [{ xattrs: true }, []],
])('the step `notify` in a dry run with %j', (notifications, expected) => {
  const { all, said, lines } = played(true);
  all.configure({ notifications: { ...NOTHING, ...notifications } });
  step(all, notice('', true));
  expect([said, lines]).toEqual([[], expected]);
});

test('a dry run opens no receiver, and logs which it would open', () => {
  const { all, said, lines } = played(true);
  all.before(decision());
  step(all, { kind: 'evict', decision: decision({}, { dryRun: true }) });
  expect([said, lines]).toEqual([[], ['dry run: would notify of the eviction of batch: kernelLog, xattrs']]);
});

test('a failure is logged once until the receiver works again, and each failure is counted', () => {
  const { lines, counted, report, trouble } = played();
  trouble('no');
  report('failed', 'no');
  report('dropped', 'no room');
  report('sent');
  report('sent');
  report('failed', 'again');
  expect(lines).toEqual([
    'warn: notifications.xattrs: no; evictions go on',
    'notifications.xattrs works again',
    'warn: notifications.xattrs: again; evictions go on',
  ]);
  expect(counted).toEqual(['xattrs failed', 'xattrs dropped', 'xattrs sent', 'xattrs sent', 'xattrs failed']);
});

test('a new configuration closes what was open, and the same one does not', () => {
  const { all, said } = played();
  all.configure({ notifications: { ...CONFIG.notifications } });
  expect(said).toEqual([]);
  all.configure({ notifications: NOTHING });
  expect(said).toEqual(['close']);
  all.before(decision());
  expect(said).toEqual(['close']);
});
