import { rmdirSync } from 'node:fs';
import { afterEach, expect, test } from 'vitest';
import { SamplerNotifier } from '../../../../src/host/linux/sampling/sampler-notifier.js';
import { native } from '../../../../src/native/index.js';
import { memoryController, testCgroup, type TestCgroup } from '../../../support/cgroup.js';
import { eventually } from '../../../support/eventually.js';

let cgroup: TestCgroup | undefined;
let notifier: SamplerNotifier | undefined;
afterEach(async () => {
  notifier?.close();
  await cgroup?.cleanup();
  expect(native.watchCount()).toBe(0);
});

/** Without the event loop, so that wakes coalesce. */
function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

test('an approach and GONE in one wake are handled as GONE', async () => {
  cgroup = testCgroup();
  const path = `${cgroup.dir}/${memoryController()?.version === 1 ? 'memory.usage_in_bytes' : 'memory.current'}`;
  const wakes: { readonly detail: number; readonly approaching: true | undefined }[] = [];
  const sampled = { value: { files: [{ path, format: 'number' }], weights: [1] }, unit: 'memory' } as const;
  const sampler = new SamplerNotifier(native, sampled, (_mechanism, _atNs, detail, approaching) => wakes.push({ detail, approaching }));
  notifier = sampler;
  sampler.arm([1 << 20], 'a test'); // so near that it counts as an approach
  block(200);
  rmdirSync(cgroup.dir);
  block(200);
  // On a machine that is too slow for this the two come one after the other, which shows less and is fine as well.
  await eventually('the end', () => !sampler.live);
  await eventually('its wake', () => wakes.at(-1)?.approaching === undefined && wakes.length > 0);
  expect(sampler.state(true)).toMatchObject({ live: false, reason: expect.any(String) as string });
});
