import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { native, type Watch } from '../../src/native/index.js';
import { everything } from './everything.js';
import {
  addonFile,
  after,
  closing,
  hasCgroup2,
  hasMemoryV1,
  cgroup2,
  makeCgroup,
  makeNumberFile,
  openDescriptors,
  pause,
  runNode,
  until,
} from './kernel.js';
import { storms } from './storms.js';

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
  test('may be called twice on every object of the addon, and leaves no descriptor', async () => {
    const expressions = Object.values(everything()).flat();
    const { status, output } = await runNode(`
      const wake = () => console.log('woken');
      const count = () => fs.readdirSync('/proc/self/fd').length;
      const all = [${expressions.map((expression) => `() => ${expression}`).join(', ')}];
      all[0]().close(); // the waiter's own
      setTimeout(() => {
        const before = count();
        const opened = all.map((open) => open());
        for (let times = 0; times < 2; times++) for (const each of opened) each.close();
        if (opened.some(({ live }) => live) || native.watchCount() !== 0) console.log('live');
        for (const each of opened) each.status?.();
        // The armer closes some, the threads of a filesystem and of a walk end by themselves, and what the others hold
        // inside is collected.
        const look = () => (gc(), count() <= before ? console.log('closed') : setTimeout(look, 5));
        look();
      }, 100);
    `);
    expect({ status, output }).toEqual({ status: 0, output: 'closed' });
  });

  test('may be called twice in the callback of every kind of watch, during further events, and no callback follows', async () => {
    const ends: (() => void)[] = [];
    const all = storms(ends);
    const script = `
      const native = require(${JSON.stringify(addonFile)});
      const calls = {};
      const watches = {};
      const on = (name) => (bits, atNs, detail) => {
        // A v1 threshold says that it stands: it is the crossing that is waited for.
        if (name === 'MemcgThreshold' && detail === native.THRESHOLD.MOVED) return console.log('open');
        calls[name] = (calls[name] ?? 0) + 1;
        watches[name].close();
        watches[name].close();
        if (watches[name].live) calls[name] = 'live';
        if (native.watchCount() === 0) setTimeout(() => console.log(JSON.stringify(calls)), 200);
      };
      ${Object.entries(all)
        .map(([name, { watch }]) => `watches['${name}'] = ${watch};`)
        .join('\n')}
      const stats = new native.FilesystemStats('/');
      stats.request(() => { stats.close(); stats.close(); calls.FilesystemStats = 1; });
      ${hasMemoryV1 ? '' : "console.log('open');"}`;
    const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
    const exit = once(child, 'exit');
    after(() => void child.kill('SIGKILL'));
    let said = '';
    child.stdout.on('data', (text: Buffer) => (said += text.toString()));
    await until('the watches are open', () => said.includes('open'));
    for (const { start } of Object.values(all)) await start();
    expect(await exit).toEqual([0, null]); // with the last watch its process ends
    for (const end of ends) end();
    const expected = Object.fromEntries([...Object.keys(all), 'FilesystemStats'].map((name) => [name, 1]));
    expect(JSON.parse(said.slice(said.indexOf('\n') + 1))).toEqual(expected);
  });

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

  test('of another watch in a callback cancels its wake', async () => {
    let calls = 0;
    const watches: Watch[] = [];
    const { path, show } = makeNumberFile(1);
    // Both see the same crossing; the first callback closes both.
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

  test('may be followed by opening a watch in the callback', async () => {
    let inner: Watch | undefined;
    const { show } = fileWatch(() => {
      inner ??= fileWatch(() => undefined).watch;
    });
    await pause(50);
    show(9);
    await until('the inner one', () => inner?.live === true);
    expect(native.watchCount()).toBe(2);
  });

  test.runIf(hasCgroup2)('after GONE does nothing, because the descriptors are already closed', async () => {
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
    expect(openDescriptors()).toBeLessThanOrEqual(before);
  });
});

test('a callback that throws is an uncaught exception, and the other watches are still called', async () => {
  const { status, output } = await runNode(`
    const path = ${JSON.stringify(makeNumberFile(1).path)};
    const seen = [];
    const watch = (name, fail) => new native.Sampler({ files: [{ path, format: 'number' }], weights: [1], maxRatePerSecond: 1, maxPeriodMs: 2, limits: [5] }, () => {
      seen.push(name);
      if (fail) throw new Error('thrown by ' + name);
    });
    const watches = [watch('first', true), watch('second', false)];
    process.on('uncaughtException', (error) => seen.push(error.message));
    const look = () => {
      if (seen.length < 3) return setTimeout(look, 5);
      console.log(seen.join(', '));
      for (const watch of watches) watch.close();
    };
    setTimeout(() => {
      show(path, 9);
      for (const end = Date.now() + 50; Date.now() < end;);
      look();
    }, 50);
  `);
  expect({ status, output }).toEqual({ status: 0, output: 'first, thrown by first, second' });
});

test('a live watch without references is not collected', async () => {
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
