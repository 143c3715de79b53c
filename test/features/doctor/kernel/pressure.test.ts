import { describe, expect, test } from 'vitest';
import type { PressureFacts } from '../../../../src/host/facts.js';
import { pressureCheck, pressureWindowCheck } from '../../../../src/features/doctor/checks/kernel.js';
import { expectCheck, workloadFacts } from '../support.js';

const absent: PressureFacts = { state: 'absent', built: undefined, parameter: undefined, window: undefined };

test.each<[rule: string, facts: Partial<PressureFacts>, status: 'ok' | 'degraded', summary: RegExp]>([
  ['on', { state: 'on', built: 'off by default', parameter: '1' }, 'ok', /^PSI is on$/],
  ['switched off by hand', { built: 'on', parameter: '0' }, 'degraded', /^PSI is off: memory stalls do not wake evictd/],
  ['an older kernel has the files and refuses', { state: 'off' }, 'degraded', /^PSI is off: /],
])('%s', (_rule, facts, status, summary) => {
  const check = pressureCheck.judge({ pressure: { ...absent, ...facts }, workloads: workloadFacts() })[0];
  expectCheck(check, 'kernel.pressure', status, summary);
});

describe('the shortest pressure window', () => {
  test.each<[rule: string, window: PressureFacts['window'], status: 'ok' | 'degraded', summary: RegExp]>([
    ['with CAP_SYS_RESOURCE on 6.12', { shortestUs: 100_000 }, 'ok', /^the shortest PSI window is 100 ms$/],
    ['with CAP_SYS_RESOURCE on 6.1', { shortestUs: 500_000 }, 'ok', /500 ms/],
    ['without CAP_SYS_RESOURCE', { shortestUs: 2_000_000 }, 'degraded', /2000 ms/],
    ['none', { refused: '/proc/pressure/memory: EACCES' }, 'degraded', /refused a PSI trigger: .*EACCES/],
  ])('%s', (_rule, window, status, summary) => {
    expectCheck(pressureWindowCheck.judge({ pressure: { ...absent, state: 'on', window } })[0], 'kernel.pressure-window', status, summary);
  });

  test('has no check without PSI, or if the window was not tested', () => {
    expect(pressureWindowCheck.judge({ pressure: absent })).toEqual([]);
    expect(pressureWindowCheck.judge({ pressure: { ...absent, state: 'on' } })).toEqual([]);
  });
});
