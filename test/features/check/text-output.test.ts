import { describe, expect, test } from 'vitest';
import { failedReport, type CheckReport } from '../../../src/features/check/check-report.js';
import { styleFor, type Style } from '../../../src/cli/output/style.js';
import { checkText } from '../../../src/features/check/text-output.js';
import { ConfigError } from '../../../src/errors.js';
import { calm, clock, dead, live, reading, report, short, unread } from './support.js';

const plain: Style = (_colour, text) => text;

test.each<[rule: string, report: CheckReport, text: string]>([
  [
    'ok',
    report(calm),
    `
ok: no threshold is met  (node: machine, cgroup v1)

SIGNAL            AVAILABLE  CAPACITY  AVAIL%  SOFT BELOW  HARD BELOW  STATUS
memory.available      15GiB     16GiB   93.7%      819MiB      100MiB  ok
nodefs.available     120GiB    200GiB   60.0%           -       20GiB  ok
pid.available         32000     32768   97.6%           -         100  ok
`,
  ],
  [
    'the output has a hard threshold, a notifier that is not live, and a missing workload source',
    report(short, { notifiers: [live, dead], problems: [{ code: 'EVICTD_P', message: 'no cgroup /w', hint: 'create it' }] }),
    `
hard threshold met: memory.available 50MiB < 100Mi (hard)  (node: machine, cgroup v1)

SIGNAL            AVAILABLE  CAPACITY  AVAIL%  SOFT BELOW  HARD BELOW  STATUS
memory.available      50MiB     16GiB    0.3%      819MiB      100MiB  hard threshold met
nodefs.available     120GiB    200GiB   60.0%           -       20GiB  ok
pid.available         32000     32768   97.6%           -         100  ok

node conditions: MemoryPressure
notifier psi_trigger on /proc/pressure/memory cannot be armed: EPERM (run as root)
no cgroup /w (create it) [EVICTD_P]
`,
  ],
  [
    'the output has only those warnings of the configuration that change what was read',
    report(reading({}), {
      thresholds: [],
      notices: [
        { level: 'warn', code: 'EVICTD_CONFIG_DEFAULTS_KEPT', message: 'evictionHard keeps the defaults' },
        { level: 'warn', code: 'EVICTD_CONFIG_CONTAINERFS', message: 'ignored: containerfs.available' },
        { level: 'warn', code: 'EVICTD_CONFIG_DROPIN_NAME', message: 'ignored: 10.yml' },
        { level: 'info', code: 'EVICTD_CONFIG_KEYS_UNUSED', message: 'not used: clusterDNS' },
      ],
    }),
    `
ok: no threshold is met  (node: machine, cgroup v1)

ignored: containerfs.available [EVICTD_CONFIG_CONTAINERFS]
ignored: 10.yml [EVICTD_CONFIG_DROPIN_NAME]
`,
  ],
  [
    'a signal that cannot be read',
    report(unread, { notifiers: [{ ...dead, essential: true }] }),
    `
unknown: not everything could be checked  (node: machine, cgroup v1)

SIGNAL            AVAILABLE  CAPACITY  AVAIL%  SOFT BELOW  HARD BELOW  STATUS
memory.available      15GiB     16GiB   93.7%      819MiB      100MiB  ok
nodefs.available          ?         ?       ?           -           ?  unknown
pid.available         32000     32768   97.6%           -         100  ok

notifier psi_trigger on /proc/pressure/memory cannot be armed: EPERM (run as root); evictd run would poll
nodefs.available cannot be read: /var: no answer for 1 s [EVICTD_SIGNAL_UNREADABLE]
`,
  ],
  [
    'a wrong configuration',
    failedReport(
      new ConfigError([{ code: 'EVICTD_A', message: 'unknown signal', hint: 'a hint', position: { file: 'c.yaml', line: 1, column: 2 } }]),
      clock,
    ),
    `
unknown: nothing could be checked

c.yaml:1:2: unknown signal (a hint) [EVICTD_A]
`,
  ],
])('%s', (_rule, given, text) => {
  expect(`\n${checkText(given, plain)}`).toBe(text);
});

describe('colour in the output', () => {
  const io = { stdout: () => undefined, stderr: () => undefined };

  test.each<[rule: string, isTTY: boolean, env: Record<string, string>, coloured: boolean]>([
    ['is used on a terminal', true, {}, true],
    ['is not used in a pipe', false, {}, false],
    ['is not used with NO_COLOR', true, { NO_COLOR: '1' }, false],
    ['an empty NO_COLOR means nothing', true, { NO_COLOR: '' }, true],
    ['is not used on a dumb terminal', true, { TERM: 'dumb' }, false],
    ['FORCE_COLOR wins', false, { FORCE_COLOR: '1', NO_COLOR: '1' }, true],
    ['FORCE_COLOR=0 forces nothing', false, { FORCE_COLOR: '0' }, false],
  ])('%s', (_rule, isTTY, env, coloured) => {
    expect(styleFor({ ...io, isTTY, env })('red', 'x')).toBe(coloured ? '\u001b[31mx\u001b[0m' : 'x');
  });

  test('does not move a column', () => {
    const colourful = checkText(report(short), styleFor({ ...io, isTTY: true, env: {} }));
    expect(colourful).toContain('\u001b[31mhard threshold met\u001b[0m');
    // oxlint-disable-next-line no-control-regex
    expect(colourful.replace(/\u001b\[\d+m/g, '')).toBe(checkText(report(short), plain));
  });
});
