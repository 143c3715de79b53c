import { describe, expect, test } from 'vitest';
import { allowedPsiWindow, SHORTEST_PSI_WINDOW_US } from '../../../../src/host/linux/pressure/pressure.js';
import { native, type Binding } from '../../../../src/native/index.js';
import { hasCapSysResource, thrownBy } from '../../../native/kernel.js';

/** The addon's own triggers, as another class, so that the kernel is asked anew; and what it was asked. */
function asking(): { binding: Pick<Binding, 'PsiTrigger'>; windows: number[] } {
  const windows: number[] = [];
  class PsiTrigger extends native.PsiTrigger {
    constructor(...[file, trigger, onWake]: ConstructorParameters<Binding['PsiTrigger']>) {
      windows.push(trigger.windowUs);
      super(file, trigger, onWake);
    }
  }
  return { binding: { PsiTrigger }, windows };
}

const shortest = (binding: Pick<Binding, 'PsiTrigger'>, file: string) => allowedPsiWindow(binding, file, 'some', SHORTEST_PSI_WINDOW_US);

const trigger = (windowUs: number) =>
  new native.PsiTrigger('/proc/pressure/memory', { kind: 'some', stallUs: windowUs, windowUs }, () => undefined);

describe('the shortest PSI window', () => {
  test('is accepted by the kernel, and the shorter ones are not', () => {
    const { binding, windows } = asking();
    const window = shortest(binding, '/proc/pressure/memory');
    trigger(window).close();
    expect(windows.at(-1)).toBe(window);
    for (const windowUs of windows.slice(0, -1)) expect(thrownBy(() => trigger(windowUs))).toMatchObject({ code: 'EINVAL' });
    expect(native.watchCount()).toBe(0);
  });

  test('is tried once for all files', () => {
    const { binding, windows } = asking();
    const window = shortest(binding, '/proc/pressure/memory');
    const requested = windows.length;
    expect(shortest(binding, '/proc/pressure/io')).toBe(window);
    expect(windows).toHaveLength(requested);
  });

  test.runIf(!hasCapSysResource)('is 2 s without CAP_SYS_RESOURCE', () => {
    expect(shortest(asking().binding, '/proc/pressure/memory')).toBe(2_000_000);
  });

  test.runIf(hasCapSysResource)('is at most 500 ms with CAP_SYS_RESOURCE', () => {
    expect(shortest(asking().binding, '/proc/pressure/memory')).toBeLessThanOrEqual(500_000);
  });

  test('has the error of the kernel for a missing file, and the next file is tried', () => {
    const { binding } = asking();
    expect(thrownBy(() => shortest(binding, '/proc/pressure/none'))).toMatchObject({ code: 'ENOENT' });
    expect(shortest(binding, '/proc/pressure/memory')).toBeGreaterThan(0);
  });
});

describe('the PSI window for a configured one', () => {
  test.each([2_000_000, 4_000_000])('of %i µs, which every process may set, is the same, without a trial', (wantedUs) => {
    const { binding, windows } = asking();
    expect(allowedPsiWindow(binding, '/proc/pressure/memory', 'full', wantedUs)).toBe(wantedUs);
    expect(windows).toEqual([]);
  });

  test.runIf(!hasCapSysResource).each([
    [500_000, 2_000_000],
    [2_500_000, 4_000_000],
  ])('of %i µs is %i without CAP_SYS_RESOURCE: the next multiple of 2 s', (wantedUs, allowedUs) => {
    expect(allowedPsiWindow(asking().binding, '/proc/pressure/memory', 'full', wantedUs)).toBe(allowedUs);
  });

  test.runIf(hasCapSysResource).each([500_000, 2_500_000])('of %i µs is the same with CAP_SYS_RESOURCE', (wantedUs) => {
    expect(allowedPsiWindow(asking().binding, '/proc/pressure/memory', 'full', wantedUs)).toBe(wantedUs);
  });

  test('is tried once for each window', () => {
    const { binding, windows } = asking();
    const ask = (wantedUs: number) => allowedPsiWindow(binding, '/proc/pressure/memory', 'some', wantedUs);
    const answers = [ask(500_000), ask(4_000_000)];
    const requested = windows.length;
    expect([ask(500_000), ask(4_000_000)]).toEqual(answers);
    expect(windows).toHaveLength(requested);
    expect(answers[1]).toBe(4_000_000);
  });
});
