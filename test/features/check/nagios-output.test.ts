import { expect, test } from 'vitest';
import { checkNagios } from '../../../src/features/check/nagios-output.js';
import { failedReport, type CheckReport } from '../../../src/features/check/check-report.js';
import { whenOperands } from '../../../src/config/resolve/listed-thresholds.js';
import { ConfigError, UnavailableError } from '../../../src/errors.js';
import type { Threshold } from '../../../src/core/threshold/threshold.js';
import { threshold } from '../../core/support.js';
import { calm, clock, reading, report, short, unread } from './support.js';

const perfdata = (memory: string, nodefs = "'nodefs.available'=128849018880B;;21474836800:;0;214748364800"): string =>
  ` | 'memory.available'=${memory};858993472:;104857600:;0;17179869184 ${nodefs} 'pid.available'=32000;;100:;0;32768\n`;

const listed = (text: string): Threshold => {
  const [first, ...also] = whenOperands(text);
  return { ...first, ...(also.length > 0 && { also }), kind: 'soft', gracePeriodNs: 0n, minReclaim: undefined };
};

test.each<[rule: string, report: CheckReport, line: string]>([
  [
    'the OK line shows the available amounts',
    report(calm),
    `OK - memory.available 15GiB of 16GiB, nodefs.available 120GiB of 200GiB, pid.available 32000 of 32768 processes${perfdata('16106127360B')}`,
  ],
  [
    'hard is critical, what is wrong comes first',
    report(short),
    `CRITICAL - memory.available 50MiB < 100Mi (hard), memory.available 50MiB < 5% = 819MiB (soft), nodefs.available 120GiB of 200GiB, pid.available 32000 of 32768 processes${perfdata('52428800B')}`,
  ],
  [
    'soft is a warning',
    report(reading({ 'memory.available': [1n, 2n] }), { thresholds: [threshold('memory.available', '2', { graceSeconds: 1 })] }),
    "WARNING - memory.available 1B < 2 (soft) | 'memory.available'=1B;2:;;0;2\n",
  ],
  [
    'a signal that cannot be read is U, and comes first',
    report(unread),
    `UNKNOWN - nodefs.available cannot be read: /var: no answer for 1 s, memory.available 15GiB of 16GiB, pid.available 32000 of 32768 processes${perfdata('16106127360B', "'nodefs.available'=U")}`,
  ],
  [
    'without a node there is no perfdata',
    failedReport(new UnavailableError('EVICTD_NODE_MISSING', 'no cgroup /x'), clock),
    'UNKNOWN - no cgroup /x\n',
  ],
  [
    'the first configuration error, with its place, and how many there are besides',
    failedReport(
      new ConfigError([
        { code: 'EVICTD_A', message: 'unknown signal', position: { file: '/etc/c.yaml', line: 3, column: 5 } },
        { code: 'EVICTD_B', message: 'above 100%', position: { file: '--eviction-hard' } },
        { code: 'EVICTD_C', message: 'below 0%', position: { file: '--eviction-hard' } },
      ]),
      clock,
    ),
    'UNKNOWN - /etc/c.yaml:3:5: unknown signal, and 2 more: evictd config check\n',
  ],
  [
    'a single configuration error: nothing besides',
    failedReport(new ConfigError([{ code: 'EVICTD_A', message: 'unknown signal', position: { file: 'c.yaml' } }]), clock),
    'UNKNOWN - c.yaml: unknown signal\n',
  ],
  [
    'a warning of the configuration does not change the status',
    report(unread, { notices: [{ level: 'warn', code: 'EVICTD_CONFIG_DEFAULTS_KEPT', message: 'keeps the defaults' }] }),
    `UNKNOWN - nodefs.available cannot be read: /var: no answer for 1 s, memory.available 15GiB of 16GiB, pid.available 32000 of 32768 processes${perfdata('16106127360B', "'nodefs.available'=U")}`,
  ],
  ['the output is one line without a second |, whatever the message', failedReport(new Error('a|b\nc  | d'), clock), 'UNKNOWN - a/b c/d\n'],
  [
    'pressure has the range of an entry with one operand, and a joined threshold alerts only if all operands are met',
    report(reading({ 'cpu.pressure.some': [100_000_000n, 1_000_000_000n], 'io.pressure.some': [0n, 1_000_000_000n] }), {
      thresholds: [listed('cpu.pressure.some>20%'), listed('io.pressure.some>40% & cpu.pressure.some>5%')],
    }),
    "OK - not met: cpu.pressure.some>20% (cpu.pressure.some 10%), not met: io.pressure.some>40% & cpu.pressure.some>5% (io.pressure.some 0%, cpu.pressure.some 10%) | 'io.pressure.some'=0%;;;0;100 'cpu.pressure.some'=10%;20;;0;100\n",
  ],
  ['there are no thresholds', report(reading({}), { thresholds: [] }), 'OK - no thresholds\n'],
])('%s', (_rule, given, line) => {
  expect(checkNagios(given)).toBe(line);
});
