import { once } from 'node:events';
import { readFileSync, readdirSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { describe, expect, test } from 'vitest';
import { native } from '../../src/native/index.js';
import { CLASSES, everything } from './everything.js';
import {
  addonFile,
  after,
  cgroup2,
  closing,
  hasCgroup2,
  makeCgroup,
  makeDirectory,
  makeNumberFile,
  openDescriptors,
  runNode,
  threads,
  until,
} from './kernel.js';
import { kindOf, storms } from './storms.js';

/** Script that opens everything that can be open, a sampler that wakes at each of its samples included. */
function openEverything(): string {
  const expressions = Object.values(everything()).flat();
  return `
    const native = require(${JSON.stringify(addonFile)});
    let wakes = 0;
    const wake = () => wakes++;
    const loadavg = { path: '/proc/loadavg', format: 'loadavg' };
    const sampler = new native.Sampler({ files: [loadavg], weights: [1], maxRatePerSecond: 1, maxPeriodMs: 1, limits: [1] }, wake);
    const opened = [\n${expressions.join(',\n')}\n];`;
}

const SAY_OPEN = "require('node:worker_threads').parentPort.postMessage('open');";

/** Resolves when it says that it is open, at its end or where `script` does. */
async function startWorker(script: string): Promise<Worker> {
  const worker = new Worker(script.includes(SAY_OPEN) ? script : `${script}\n${SAY_OPEN}`, { eval: true });
  after(async () => {
    await worker.terminate();
  });
  await once(worker, 'message');
  return worker;
}

/** Waits until there are no more of them than now, once the workers that `run` starts have ended. */
async function expectNothingLeft(run: () => Promise<void>): Promise<void> {
  await run(); // what the runtime keeps after its first worker
  const before = { descriptors: openDescriptors(), threads: threads() };
  for (let i = 0; i < 10; i++) await run();
  await until('the threads end', () => threads() <= before.threads);
  await until('the descriptors are closed', () => openDescriptors() <= before.descriptors);
}

test('everything that the addon exports is tried here', () => {
  expect(Object.keys(everything()).sort()).toEqual(CLASSES);
});

describe('a worker', () => {
  test('that is terminated with everything open leaves no descriptor and no thread', async () => {
    const script = openEverything();
    await expectNothingLeft(async () => {
      await (await startWorker(script)).terminate();
    });
  });

  test('that is terminated while watches of every kind fire leaves no descriptor and no thread', async () => {
    const ends: (() => void)[] = [];
    const all = storms(ends);
    const script = `${openEverything()}
      // which takes 2 s to fire
      const silent = new Set(${JSON.stringify(Object.keys(all).filter((name) => kindOf(name) !== 'PsiTrigger'))});
      const on = (name) => () => { if (silent.delete(name) && silent.size === 0) ${SAY_OPEN} };
      const storming = [${Object.values(all)
        .map(({ watch }) => watch)
        .join(', ')}];
      setInterval(() => sampler.setLimits([1]), 1);
      for (let i = 0; i < 20; i++) new native.FilesystemStats('/').request(() => { for (const end = Date.now() + 5; Date.now() < end;); });`;
    for (const { start } of Object.values(all)) await start();
    await expectNothingLeft(async () => {
      await (await startWorker(script)).terminate();
    });
    for (const end of ends) end();
  });

  test.each([
    ['process.exit()', 'process.exit(0)'],
    ['an uncaught error', "throw new Error('expected by the test')"],
  ])('that ends by %s with everything open leaves no descriptor and no thread', async (_how, end) => {
    const script = `${openEverything()}\nrequire('node:worker_threads').parentPort.once('message', () => { ${end}; });`;
    await expectNothingLeft(async () => {
      const worker = await startWorker(script);
      const ended = new Promise((settle) => worker.on('error', () => undefined).on('exit', settle));
      worker.postMessage('end');
      await ended;
    });
  });

  // In a process of its own, which the end of the worker must not take along.
  test('that ends in one callback gets no other callback, though others are ready', async () => {
    const file = JSON.stringify(makeNumberFile(9).path);
    const directory = JSON.stringify(makeDirectory());
    const inWorker = `
      const native = require(${JSON.stringify(addonFile)});
      const sampler = { files: [{ path: ${file}, format: 'number' }], weights: [1], maxRatePerSecond: 1, maxPeriodMs: 1, limits: [5] };
      const first = new native.Sampler(sampler, () => process.exit(3));
      new native.DirectoryUsage(${directory}, () => process.exit(4));
      new native.FilesystemStats('/').request(() => process.exit(5));
      const last = new native.Sampler(sampler, () => process.exit(6));
      // Blocked until both samplers have fired: a period is known after the first sample, which is beyond the limit.
      for (let end = Infinity; Date.now() < end;) {
        if (end === Infinity && first.status().periodMs > 0 && last.status().periodMs > 0) end = Date.now() + 300;
      }`;
    const { status, output } = await runNode(`
      const worker = new (require('node:worker_threads').Worker)(${JSON.stringify(inWorker)}, { eval: true });
      worker.on('exit', (code) => console.log('ended', code));`);
    expect({ status, output }).toEqual({ status: 0, output: 'ended 3' });
  });

  test('has its own waiter, beside that of the main thread and of another worker', async () => {
    const comm = (task: string) => {
      try {
        return readFileSync(`/proc/self/task/${task}/comm`, 'utf8');
      } catch {
        return ''; // it has ended since it was listed
      }
    };
    const waiters = () => readdirSync('/proc/self/task').filter((task) => comm(task) === 'evictd-waiter\n').length;
    const loadavg = { path: '/proc/loadavg', format: 'loadavg' } as const;
    const own = closing(
      new native.Sampler({ files: [loadavg], weights: [1], maxRatePerSecond: 1, maxPeriodMs: 1000, limits: [] }, () => undefined),
    );
    const workers = await Promise.all([startWorker(openEverything()), startWorker(openEverything())]);
    expect(waiters()).toBe(3);
    await Promise.all(workers.map((worker) => worker.terminate()));
    await until('theirs end', () => waiters() === 1);
    expect([own.live, native.watchCount()]).toEqual([true, 1]);
  });
});

describe('a process', () => {
  test('is kept alive by a live watch, and ends when the last one is closed', async () => {
    const { status, output } = await runNode(`
      const sampler = new native.Sampler({ files: [{ path: '/proc/loadavg', format: 'loadavg' }], weights: [1], maxRatePerSecond: 1, maxPeriodMs: 5, limits: [] }, () => {});
      const started = Date.now();
      setTimeout(() => sampler.close(), 200).unref();
      process.on('exit', () => console.log(Date.now() - started >= 190 ? 'after close' : 'too early', native.watchCount()));
    `);
    expect({ status, output }).toEqual({ status: 0, output: 'after close 0' });
  });

  test.runIf(hasCgroup2)('ends when its last watch is GONE', async () => {
    const cgroup = JSON.stringify(makeCgroup(cgroup2));
    const { status, output } = await runNode(`
      new native.MemcgEvents(${cgroup}, 'cgroup.events', (bits) => console.log('gone', bits));
      setTimeout(() => fs.rmdirSync(${cgroup}), 50);
    `);
    expect({ status, output }).toEqual({ status: 0, output: 'gone 2' });
  });

  // Ten times each: what is wrong here is a race.
  test.each<[how: string, end: string, status: number, output?: RegExp]>([
    [
      'returns from its last event with all but the watches open',
      'sampler.close(); for (const owner of opened) if (owner.live) owner.close();',
      0,
    ],
    ['calls process.exit()', 'process.exit(3);', 3],
    [
      'calls process.exit() from a callback',
      'new native.FilesystemStats("/").request(() => process.exit(4)); setInterval(() => {}, 1000);',
      4,
    ],
    [
      'calls process.exit() while its watches fire',
      'setInterval(() => sampler.setLimits([1]), 1); setTimeout(() => process.exit(5), 50);',
      5,
    ],
    [
      'does not catch an error',
      "process.on('uncaughtExceptionMonitor', () => {}); throw undefined;",
      1,
      /^\[eval\]:\d+\n.*\n *\^\n+(Uncaught:\n)?undefined\n\(.*\)\n\nNode\.js v[\d.]+$/,
    ],
    ['calls exitNow', 'native.exitNow(6);', 6],
  ])('that %s with everything open ends quietly', async (_how, end, status, output = /^$/) => {
    const script = openEverything().replace(/const native = .*/, '');
    const ends = await Promise.all(Array.from({ length: 10 }, () => runNode(`${script}\n${end}`)));
    expect(ends).toEqual(ends.map(() => ({ status, output: expect.stringMatching(output) as string })));
  });

  test('is woken after it was blocked, once for any number of events', async () => {
    const { status, output } = await runNode(`
      const path = ${JSON.stringify(makeNumberFile(1).path)};
      let wakes = 0, bits = 0, first = 0n;
      const watch = () => new native.Sampler({ files: [{ path, format: 'number' }], weights: [1], maxRatePerSecond: 1, maxPeriodMs: 1, limits: [5] }, (wake, atNs) => {
        wakes++;
        bits |= wake;
        first = first || atNs;
      });
      const samplers = [watch(), watch(), watch()];
      const sampled = () => samplers.every((sampler) => sampler.status().periodMs > 0);
      const start = process.hrtime.bigint();
      // JavaScript is blocked: about a hundred crossings, seen by three watches.
      while (!sampled());
      for (let i = 0; i < 100; i++) { show(path, i % 2 ? 1 : 9); for (const end = Date.now() + 5; Date.now() < end;); }
      const blocked = process.hrtime.bigint();
      const look = () => {
        if (wakes < samplers.length) return setTimeout(look, 5);
        // A watch that had not seen the last value yet wakes once more.
        console.log(JSON.stringify({ few: wakes <= 6, bits, whileBlocked: first >= start && first < blocked }));
        for (const sampler of samplers) sampler.close();
      };
      setTimeout(look, 100);
    `);
    expect({ status, output: JSON.parse(output) as unknown }).toEqual({ status: 0, output: { few: true, bits: 1, whileBlocked: true } });
  });
});
