import { expect, test } from 'vitest';
import type { Binding } from '../../../../src/native/binding.js';
import { askBySignal, catches } from '../../../../src/host/linux/process/request-signal.js';

test.each<[rule: string, mask: string, signal: number, caught: boolean]>([
  ['bit 0 is signal 1', '0000000000000001', 1, true],
  ['the bit below', '0000000000000400', 12, false],
  ['SIGUSR2', '0000000000000800', 12, true],
  ['a real-time signal', '8000000000000000', 64, true],
])('a handler is found in /proc/PID/status: %s', (_rule, mask, signal, caught) => {
  expect(catches(`Name:\tevictd\nSigIgn:\tffffffffffffffff\nSigCgt:\t${mask}\nCapInh:\t0\n`, signal)).toBe(caught);
});

function pidfd() {
  const sent: number[] = [];
  class Pidfd {
    signal(number: number): boolean {
      sent.push(number);
      return true;
    }
    close(): void {
      sent.push(0);
    }
  }
  return { sent, native: { Pidfd } as unknown as Pick<Binding, 'Pidfd'> };
}

test('a process without a handler gets no signal, because the signal would end it', () => {
  const { sent, native } = pidfd();
  const target = { pid: process.pid, lock: '', isCurrent: () => true };
  expect(() => {
    askBySignal(native, 'resume', target);
  }).toThrow(/no handler for SIGUSR2/);
  expect(sent).toEqual([0]);
  const ignore = (): void => undefined;
  process.on('SIGUSR2', ignore);
  try {
    askBySignal(native, 'resume', target);
    askBySignal(native, 'resume', { ...target, isCurrent: () => false });
  } finally {
    process.off('SIGUSR2', ignore);
  }
  expect(sent).toEqual([0, 12, 0, 0]);
});
