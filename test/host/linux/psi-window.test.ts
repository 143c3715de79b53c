import { describe, expect, test } from 'vitest';
import { shortestPsiWindow } from '../../../src/host/linux/psi-window.js';
import { native, type Binding } from '../../../src/native/index.js';
import { hasCapSysResource, thrownBy } from '../../native/kernel.js';

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

const trigger = (windowUs: number) =>
  new native.PsiTrigger('/proc/pressure/memory', { kind: 'some', stallUs: windowUs, windowUs }, () => undefined);

describe('the shortest PSI window', () => {
  test('is one that the kernel takes, and it takes none of the shorter ones', () => {
    const { binding, windows } = asking();
    const shortest = shortestPsiWindow(binding, '/proc/pressure/memory');
    trigger(shortest).close();
    expect(windows.at(-1)).toBe(shortest);
    for (const windowUs of windows.slice(0, -1)) expect(thrownBy(() => trigger(windowUs))).toMatchObject({ code: 'EINVAL' });
    expect(native.watchCount()).toBe(0);
  });

  test('is asked for once, whatever the file', () => {
    const { binding, windows } = asking();
    const shortest = shortestPsiWindow(binding, '/proc/pressure/memory');
    const asked = windows.length;
    expect(shortestPsiWindow(binding, '/proc/pressure/io')).toBe(shortest);
    expect(windows).toHaveLength(asked);
  });

  test.runIf(!hasCapSysResource)('is 2 s without CAP_SYS_RESOURCE', () => {
    expect(shortestPsiWindow(asking().binding, '/proc/pressure/memory')).toBe(2_000_000);
  });

  test.runIf(hasCapSysResource)('is at most 500 ms with CAP_SYS_RESOURCE', () => {
    expect(shortestPsiWindow(asking().binding, '/proc/pressure/memory')).toBeLessThanOrEqual(500_000);
  });

  test('of a file that is not there is what the kernel says, and the next file is asked', () => {
    const { binding } = asking();
    expect(thrownBy(() => shortestPsiWindow(binding, '/proc/pressure/none'))).toMatchObject({ code: 'ENOENT' });
    expect(shortestPsiWindow(binding, '/proc/pressure/memory')).toBeGreaterThan(0);
  });
});
