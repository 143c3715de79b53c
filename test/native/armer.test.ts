import { Worker } from 'node:worker_threads';
import { describe, expect, test } from 'vitest';
import { native, type Watch } from '../../src/native/index.js';
import {
  addonFile,
  after,
  closing,
  hasMemoryV1,
  makeCgroup,
  memoryV1,
  openDescriptors,
  runNode,
  sleeps,
  threads,
  until,
} from './kernel.js';

const ignore = () => undefined;
const trigger = (): Watch =>
  new native.PsiTrigger('/proc/pressure/memory', { kind: 'some', stallUs: 1_900_000, windowUs: 2_000_000 }, ignore);
/** The waiter's and the armer's own descriptors and threads come with the first watch, which stays. */
const startThreads = () =>
  closing(
    new native.Sampler(
      { files: [{ path: '/proc/loadavg', format: 'loadavg' }], weights: [1], maxRatePerSecond: 1, maxPeriodMs: 1000, limits: [] },
      ignore,
    ),
  );

// The kernel waits for an RCU grace period where a PSI trigger is closed and where a v1 threshold is registered.
describe('the thread that arms and closes notifiers', () => {
  test('closes PSI triggers, so that close() does not wait', async () => {
    startThreads();
    const before = openDescriptors();
    const triggers = Array.from({ length: 20 }, () => closing(trigger()));
    const slept = sleeps();
    for (const each of triggers) each.close();
    expect(sleeps() - slept).toBeLessThan(triggers.length / 2);
    expect(triggers.some(({ live }) => live)).toBe(false);
    await until('all are closed', () => openDescriptors() <= before);
  });

  test('limits the queue: a caller that closes many notifiers waits itself', async () => {
    startThreads();
    const before = openDescriptors();
    let most = 0;
    for (let i = 0; i < 200; i++) {
      trigger().close();
      most = Math.max(most, openDescriptors() - before);
    }
    expect(most).toBeLessThanOrEqual(66);
    await until('all are closed', () => openDescriptors() <= before);
  });

  const busy = (cgroup: string | undefined) => `
    const wake = () => {};
    for (let i = 0; i < 30; i++) new native.PsiTrigger('/proc/pressure/memory', { kind: 'some', stallUs: 1900000, windowUs: 2000000 }, wake).close();
    const cgroup = ${JSON.stringify(cgroup)};
    const open = cgroup ? Array.from({ length: 30 }, () => new native.MemcgThreshold(cgroup, 1n << 20n, wake)) : [];
    for (const each of open) each.move(2n << 20n);
    for (const each of open.slice(0, 10)) each.close();`;

  test('leaves no descriptor and no thread of a worker that is terminated while its queue is long', async () => {
    const cgroup = hasMemoryV1 ? makeCgroup(memoryV1) : undefined;
    const run = async () => {
      const script = `const native = require(${JSON.stringify(addonFile)}); ${busy(cgroup)} require('node:worker_threads').parentPort.postMessage('open');`;
      const worker = new Worker(script, { eval: true });
      after(async () => {
        await worker.terminate();
      });
      await new Promise((opened) => worker.once('message', opened));
      await worker.terminate();
    };
    await run(); // what the runtime keeps after its first worker
    const before = { descriptors: openDescriptors(), threads: threads() };
    for (let i = 0; i < 5; i++) await run();
    await until('the threads end', () => threads() <= before.threads);
    await until('the descriptors are closed', () => openDescriptors() <= before.descriptors);
  });

  test.each([
    ['process.exit()', 'process.exit(3);', 3],
    ['closing its last watch', 'for (const each of open) each.close();', 0],
    ['exitNow', 'native.exitNow(4);', 4],
  ])('does not delay a process that ends by %s while its queue is long', async (_how, end, status) => {
    const script = `${busy(hasMemoryV1 ? makeCgroup(memoryV1) : undefined)}\n${end}`;
    const ends = await Promise.all(Array.from({ length: 4 }, () => runNode(script)));
    expect(ends).toEqual(ends.map(() => ({ status, output: '' })));
  });
});
