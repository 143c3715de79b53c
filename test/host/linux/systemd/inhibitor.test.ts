import { expect, onTestFinished, test } from 'vitest';
import { Inhibitor } from '../../../../src/host/linux/systemd/inhibitor.js';
import { eventually } from '../../../support/eventually.js';

function inhibitor(script: string): string[] {
  const reported: string[] = [];
  const lock = new Inhibitor(['/bin/sh', '-c', script], { taken: () => reported.push('taken'), ended: (reason) => reported.push(reason) });
  onTestFinished(() => {
    lock.close();
  });
  return reported;
}

test('output after the end of systemd-inhibit proves no lock, because its pid may be reused', async () => {
  const afterIt = 'while [ -e /proc/$$ ]; do sleep 0.01; done; echo; cat <&3';
  const reported = inhibitor(`exec 3<&0; (${afterIt}) & exit 3`);
  await eventually('it is reported', () => reported.length > 0);
  expect(reported).toEqual(['/bin/sh has ended (3)']);
});
