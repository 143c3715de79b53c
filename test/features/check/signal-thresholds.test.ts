import { expect, test } from 'vitest';
import { checkCommand } from '../../../src/features/check/command.js';
import type { Observations } from '../../../src/core/signal/observation.js';
import { WHOLE_SHARE } from '../../../src/core/signal/signal.js';
import { fakeReading, ran, type Ran } from '../../cli/support.js';
import { Gi } from '../../core/support.js';
import { reading } from './support.js';

const percent = (value: bigint): readonly [bigint, bigint] => [(value * WHOLE_SHARE) / 100n, WHOLE_SHARE];
const observations: Observations = {
  ...reading({
    'memory.available': [2n * Gi, 16n * Gi],
    'nodefs.available': [1n * Gi, 200n * Gi],
    'pid.available': [500n, 1000n],
    'memory.pressure.full': percent(50n),
    'cpu.pressure.some': percent(30n),
  }),
  absent: new Map([['nodefs.inodesFree', 'btrfs counts no inodes']]),
};

const check = (...args: string[]): Promise<Ran> => {
  const open = () => fakeReading(() => observations);
  return ran((io, setExitCode) => checkCommand({ io, setExitCode, open, openPlaced: open }), args);
};

const MEMORY = "'memory.available'=2147483648B";

test.each<[rule: string, args: string, exit: number, line: string]>([
  [
    'an amount: ok, and nothing of the other signals',
    'memory.available -w 10% -c 5%',
    0,
    `OK - memory.available 2GiB of 16GiB | ${MEMORY};1717986944:;858993472:;0;17179869184`,
  ],
  [
    'below the warning',
    'memory.available -w 3Gi -c 1Gi',
    1,
    `WARNING - memory.available 2GiB < 3Gi (soft) | ${MEMORY};3221225472:;1073741824:;0;17179869184`,
  ],
  [
    'below both thresholds only the critical one is named',
    'memory.available -w 3Gi -c 2.5Gi',
    2,
    `CRITICAL - memory.available 2GiB < 2560Mi (hard) | ${MEMORY};3221225472:;2684354560:;0;17179869184`,
  ],
  [
    'only a critical value is given',
    'pid.available -c 10%',
    0,
    "OK - pid.available 500 of 1000 processes | 'pid.available'=500;;100:;0;1000",
  ],
  [
    'only a warning value is given',
    'pid.available -w 501',
    1,
    "WARNING - pid.available 500 processes < 501 (soft) | 'pid.available'=500;501:;;0;1000",
  ],
  [
    'pressure alerts above its value',
    'cpu.pressure.some --warning 20% --critical 40.5%',
    1,
    "WARNING - cpu.pressure.some 30% > 20% (soft) | 'cpu.pressure.some'=30%;20;40.5;0;100",
  ],
  ['pressure below its value', 'cpu.pressure.some -w 30% -c 40%', 0, "OK - cpu.pressure.some 30% | 'cpu.pressure.some'=30%;30;40;0;100"],
  [
    'joined signals, all beyond the warning and one beyond the critical value, are a warning',
    'memory.pressure.full,memory.available -w 40%,15% -c 45%,5%',
    1,
    `WARNING - memory.pressure.full 50% > 40% & memory.available 2GiB < 15% = 2.4GiB (soft) | ${MEMORY};2576980480:;858993472:;0;17179869184 'memory.pressure.full'=50%;40;45;0;100`,
  ],
  [
    'joined: both beyond the critical value',
    'memory.pressure.full,memory.available -w 40%,25% -c 45%,20%',
    2,
    `CRITICAL - memory.pressure.full 50% > 45% & memory.available 2GiB < 20% = 3.2GiB (hard) | ${MEMORY};4294967296:;3435973888:;0;17179869184 'memory.pressure.full'=50%;40;45;0;100`,
  ],
  [
    'joined signals are ok if only one is beyond its value',
    'memory.pressure.full,memory.available -c 45%,5%',
    0,
    `OK - memory.pressure.full 50%, memory.available 2GiB | ${MEMORY};;858993472:;0;17179869184 'memory.pressure.full'=50%;;45;0;100`,
  ],
  [
    'a signal that this node does not have is not ok',
    'nodefs.inodesFree -c 5%',
    3,
    "UNKNOWN - nodefs.inodesFree cannot be read: btrfs counts no inodes | 'nodefs.inodesFree'=U",
  ],
  [
    'equal values are in order',
    'pid.available -w 501 -c 501',
    2,
    "CRITICAL - pid.available 500 processes < 501 (hard) | 'pid.available'=500;501:;501:;0;1000",
  ],
  [
    'an amount and a percentage cannot be compared without the capacity',
    'pid.available -w 1 -c 10%',
    0,
    "OK - pid.available 500 of 1000 processes | 'pid.available'=500;1:;100:;0;1000",
  ],
])('%s', async (_rule, args, exit, line) => {
  expect(await check('-o', 'nagios', '--signal', ...args.split(' '))).toMatchObject({ exit, out: `${line}\n` });
});

test.each<[rule: string, args: string, code: string, message: RegExp, hint: RegExp]>([
  [
    'an unknown signal',
    '--signal memory.availabel -c 5%',
    'EVICTD_CONFIG_SIGNAL',
    /"memory.availabel" is not/,
    /^did you mean memory.available\?$/,
  ],
  ['an empty signal', '--signal memory.available, -c 5%,5%', 'EVICTD_CONFIG_SIGNAL', /"" is not/, /^accepted: memory.available, /],
  ['a signal twice', '--signal pid.available,pid.available -c 5%,6%', 'EVICTD_CONFIG_WHEN', /occurs twice/, /./],
  ['critical without signal', '-c 5%', 'EVICTD_USAGE', /^--critical needs --signal$/, /--signal memory.available/],
  ['warning without signal', '-w 5%', 'EVICTD_USAGE', /^--warning needs --signal$/, /--signal memory.available/],
  ['a signal without a value', '--signal pid.available', 'EVICTD_USAGE', /needs --warning or --critical/, /--critical 5%/],
  ['fewer values than signals', '--signal pid.available,memory.available -c 5%', 'EVICTD_USAGE', /^--critical: 1 value for 2 of/, /commas/],
  ['more values than signals', '--signal pid.available -w 5%,6%', 'EVICTD_USAGE', /^--warning: 2 values for 1 of/, /commas/],
  ['a condition', '--signal pid.available -c 5%&memory.available<1Gi', 'EVICTD_USAGE', /is not a value/, /10%/],
  ['a range of Nagios', '--signal pid.available -c 10:', 'EVICTD_CONFIG_THRESHOLD', /--critical: pid.available: "10:"/, /./],
  ['an amount for pressure', '--signal memory.pressure.full -c 10Mi', 'EVICTD_CONFIG_THRESHOLD', /not a percentage/, /percentage/],
  ['bytes for processes', '--signal pid.available -c 10Mi', 'EVICTD_CONFIG_THRESHOLD', /counts processes/, /1000 or 10%/],
  [
    'an amount in bytes for a percentage',
    '--signal memory.available -c 5',
    'EVICTD_CONFIG_THRESHOLD',
    /amount of bytes/,
    /^did you mean 5%\?$/,
  ],
  ['a unit that does not exist', '--signal memory.available -c 5MB', 'EVICTD_CONFIG_THRESHOLD', /"5MB"/, /did you mean 5M or 5Mi/],
  [
    'a warning beyond the critical amount',
    '--signal memory.available -w 5% -c 10%',
    'EVICTD_CHECK_ORDER',
    /memory.available<5% is beyond/,
    /exchange/,
  ],
  [
    'a warning beyond the critical pressure',
    '--signal io.pressure.full -w 60% -c 50%',
    'EVICTD_CHECK_ORDER',
    /io.pressure.full>60% is beyond/,
    /exchange/,
  ],
  [
    'a warning beyond the critical value of one of several signals',
    '--signal memory.pressure.full,memory.available -w 40%,5% -c 50%,10%',
    'EVICTD_CHECK_ORDER',
    /memory.available<5% is beyond the critical memory.available<10%/,
    /exchange/,
  ],
])('%s makes the status unknown, with a code and a hint', async (_rule, args, code, message, hint) => {
  const { exit, out } = await check('-o', 'json', ...args.split(' '));
  expect(exit).toBe(3);
  const problem = { code, message: expect.stringMatching(message) as unknown, hint: expect.stringMatching(hint) as unknown };
  expect(JSON.parse(out)).toMatchObject({ status: 'unknown', node: null, problems: [problem] });
});

test('the error line of a wrong flag has the hint', async () => {
  const { out } = await check('-o', 'nagios', '--signal', 'memory.availabel', '-c', '5%');
  expect(out).toBe('UNKNOWN - --signal: "memory.availabel" is not a signal (did you mean memory.available?)\n');
});
