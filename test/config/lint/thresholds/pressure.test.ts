import { expect, test } from 'vitest';
import type { MachineFacts } from '../../../../src/config/lint/machine.js';
import { lintPolicy } from '../../../../src/config/lint/lint-rules.js';
import { listed } from '../../../core/listed.js';
import { machine, subject } from '../support.js';

const found = (when: string, facts?: Partial<MachineFacts>): string[] =>
  lintPolicy(subject([listed('swap.available<1%', 'hard'), listed(when, 'hard')]), facts && machine(facts))
    .filter(({ key }) => key === 'thresholds[1]')
    .map(({ level, code }) => `${level} ${code.replace('EVICTD_', '')}`);

test.each<[rule: string, when: string, facts: Partial<MachineFacts> | undefined, found: string[]]>([
  ['pressure alone evicts', 'memory.pressure.full>40%', undefined, ['warn LINT_PRESSURE_ALONE']],
  [
    'memory pressure is alone although io pressure is joined',
    'memory.pressure.full>40% & io.pressure.full>10%',
    undefined,
    ['warn LINT_PRESSURE_ALONE'],
  ],
  ['an amount is joined', 'memory.pressure.full>40% & memory.available<10%', undefined, []],
  ['an alert-only threshold may have pressure alone', 'io.pressure.full>40%', undefined, []],
  ['cpu full of a machine', 'cpu.pressure.full>1%', { pressureOf: 'machine' }, ['warn LINT_UNREACHABLE']],
  ['cpu full of a cgroup', 'cpu.pressure.full>1%', { pressureOf: 'cgroup' }, []],
  [
    'a v1 cgroup',
    'memory.pressure.full>40% & memory.available<10%',
    { pressureOf: 'machine instead of a v1 cgroup' },
    ['info LINT_PRESSURE_OF_MACHINE'],
  ],
  ['a kernel without pressure', 'io.pressure.full>40%', { unreadable: new Map([['io.pressure.full', 'no']]) }, ['warn SIGNAL_UNREADABLE']],
  [
    'a joined operand that cannot be read',
    'memory.available<10% & io.pressure.full>40%',
    { unreadable: new Map([['io.pressure.full', 'no']]) },
    ['warn SIGNAL_UNREADABLE'],
  ],
  ['a machine without swap', 'memory.available<10% & swap.available<2%', { absent: new Map([['swap.available', 'none']]) }, []],
])('%s', (_rule, when, facts, codes) => {
  expect(found(when, facts)).toEqual(codes);
});
