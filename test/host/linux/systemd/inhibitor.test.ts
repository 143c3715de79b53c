import { expect, onTestFinished, test } from 'vitest';
import { Inhibitor } from '../../../../src/host/linux/systemd/inhibitor.js';
import { eventually } from '../../../support/eventually.js';

function inhibitor(script: string): string[] {
  const told: string[] = [];
  const lock = new Inhibitor(['/bin/sh', '-c', script], { taken: () => told.push('taken'), ended: (reason) => told.push(reason) });
  onTestFinished(() => {
    lock.close();
  });
  return told;
}

test('what comes when it has ended proves no lock, and its number may be that of another one', async () => {
  const afterIt = 'while [ -e /proc/$$ ]; do sleep 0.01; done; echo; cat <&3';
  const told = inhibitor(`exec 3<&0; (${afterIt}) & exit 3`);
  await eventually('it is told', () => told.length > 0);
  expect(told).toEqual(['/bin/sh has ended (3)']);
});
