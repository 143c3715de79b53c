import { rmdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { native, type Watch } from '../../src/native/index.js';
import { closing, hasCgroup2, cgroup2, makeCgroup, makeNumberFile, openDescriptors, pause, runNode, until } from './kernel.js';

/** A watch that fires at each change of its file between 1 and 9. */
function fileWatch(onWake: (watch: Watch) => void): { watch: Watch; show: (value: number) => void } {
  const { path, show } = makeNumberFile(1);
  const watch: Watch = new native.Sampler(
    { files: [{ path, format: 'number' }], weights: [1], maxRatePerSecond: 1, maxPeriodMs: 2, limits: [5] },
    () => onWake(watch),
  );
  return { watch: closing(watch), show };
}

describe('close', () => {
  test('may be called twice', () => {
    const { watch } = fileWatch(() => undefined);
    expect([watch.live, native.watchCount()]).toEqual([true, 1]);
    watch.close();
    watch.close();
    expect([watch.live, native.watchCount()]).toEqual([false, 0]);
  });

  test('may be called from inside the callback, which is then not called again', async () => {
    let calls = 0;
    const { show } = fileWatch((watch) => {
      calls++;
      watch.close();
      watch.close();
    });
    await pause(50);
    show(9);
    await until('the call', () => calls > 0);
    show(1);
    await pause(50);
    expect([calls, native.watchCount()]).toEqual([1, 0]);
  });

  test('of another watch from inside the callback takes back its wake', async () => {
    let calls = 0;
    const watches: Watch[] = [];
    const { path, show } = makeNumberFile(1);
    // Both see the same crossing; whoever is called first closes both.
    for (let i = 0; i < 2; i++) {
      const options = { files: [{ path, format: 'number' as const }], weights: [1], maxRatePerSecond: 1, maxPeriodMs: 2, limits: [5] };
      const onWake = () => {
        calls++;
        for (const watch of watches) watch.close();
      };
      watches.push(closing(new native.Sampler(options, onWake)));
    }
    await pause(50);
    show(9);
    // Blocked for long enough that both have their wake before either is called.
    for (const end = Date.now() + 50; Date.now() < end;);
    await until('the call', () => calls > 0);
    await pause(50);
    expect([calls, native.watchCount()]).toEqual([1, 0]);
  });

  test('a watch may be opened from inside the callback', async () => {
    let inner: Watch | undefined;
    const { show } = fileWatch(() => {
      inner ??= fileWatch(() => undefined).watch;
    });
    await pause(50);
    show(9);
    await until('the inner one', () => inner?.live === true);
    expect(native.watchCount()).toBe(2);
  });

  test.runIf(hasCgroup2)('after GONE does nothing: the descriptors are closed already', async () => {
    fileWatch(() => undefined); // the waiter's own descriptors
    const cgroup = makeCgroup(cgroup2);
    const before = openDescriptors();
    let watch: Watch | undefined;
    const gone = new Promise<void>((settle) => {
      watch = closing(new native.MemcgEvents(cgroup, 'cgroup.events', () => settle()));
    });
    rmdirSync(cgroup);
    await gone;
    expect([watch?.live, openDescriptors()]).toEqual([false, before]);
    watch?.close();
    expect(openDescriptors()).toBe(before);
  });
});

test('a callback that throws is an uncaught exception, and the other watches are called', async () => {
  const { status, output } = await runNode(`
    const path = ${JSON.stringify(makeNumberFile(1).path)};
    const seen = [];
    const watch = (name, fail) => new native.Sampler({ files: [{ path, format: 'number' }], weights: [1], maxRatePerSecond: 1, maxPeriodMs: 2, limits: [5] }, () => {
      seen.push(name);
      if (fail) throw new Error('thrown by ' + name);
    });
    const watches = [watch('first', true), watch('second', false)];
    process.on('uncaughtException', (error) => seen.push(error.message));
    setTimeout(() => {
      show(path, 9);
      for (const end = Date.now() + 50; Date.now() < end;);
    }, 50);
    setTimeout(() => {
      console.log(seen.join(', '));
      for (const watch of watches) watch.close();
    }, 200);
  `);
  expect({ status, output }).toEqual({ status: 0, output: 'first, thrown by first, second' });
});

test('a watch that nobody holds goes on: it is not collected while it is live', async () => {
  const { output } = await runNode(`
    const path = ${JSON.stringify(makeNumberFile(1).path)};
    (() => new native.Sampler({ files: [{ path, format: 'number' }], weights: [1], maxRatePerSecond: 1, maxPeriodMs: 2, limits: [5] }, () => {
      console.log('woken');
      process.exit(0);
    }))();
    setTimeout(() => { for (let i = 0; i < 5; i++) gc(); show(path, 9); }, 50);
  `);
  expect(output).toBe('woken');
});
