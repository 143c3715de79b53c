import { expect, test } from 'vitest';
import { inotifyWatches } from '../support/inotify.js';
import { makeDeep, makeWide } from '../support/many-cgroups.js';
import { Evictd } from './evictd.js';
import { guarding, ON, testNode, workload } from './node.js';

// A workload that makes cgroups inside itself gains nothing from it.

test.each([
  ['thousands of cgroups', (directory: string) => void makeWide(directory, 5_000)],
  ['cgroups of two hundred levels', (directory: string) => void makeDeep(directory, 200)],
])(`a workload with %s in it uses no inotify watch, and is evicted (${ON})`, async (_what, fill) => {
  const node = testNode();
  const web = await workload(node.child('web'), { holdsMib: 20 });
  const hostile = node.child('hostile');
  const batch = await workload(hostile.child('inner'), { holdsMib: 40, growsMib: 100 });
  const evictd = await new Evictd({ config: guarding(node) }).guarding();
  const watches = inotifyWatches(evictd.pid).length;
  fill(hostile.dir);
  batch.grow();
  expect(await batch.ended).toBe('SIGKILL');
  const outcome = await evictd.recorded('outcome');
  expect(outcome).toMatchObject({ result: 'killed', victim: { name: 'hostile' } });
  expect(web.alive).toBe(true);
  expect(inotifyWatches(evictd.pid)).toHaveLength(watches);
  expect(await evictd.stop()).toBe(0);
});
