import { EventEmitter, once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { addonPath } from '../../src/native/index.js';
import type { MemoryNotification } from '../../src/native/windows-binding.js';
import { native, thrownBy } from './native.js';
import { spawnSync } from './spawn.js';

// Wine has the kernel events of these notifications but never sets them: another process does.

const { FIRED } = native.WAKE;
/** A handle that has fired is checked once a second until it is clear. */
const LOOKED_AT_MS = 1_500;
const LOAD = `const native = require(${JSON.stringify(addonPath)});`;

function condition(kind: 'low' | 'high', state: 'set' | 'clear'): void {
  const { status } = spawnSync('build\\wine\\memory_condition.exe', [kind, state], { stdio: 'ignore' });
  if (status !== 0) throw new Error(`memory_condition ${kind} ${state}: ${String(status)}`);
}

/** The calls of a watch. */
class Wakes {
  readonly seen: [wake: number, atNs: bigint, detail: number][] = [];
  readonly #events = new EventEmitter();

  readonly onWake = (...wake: [wake: number, atNs: bigint, detail: number]): void => {
    this.seen.push(wake);
    this.#events.emit('wake');
  };

  /** Waits for this many calls. */
  async reach(count: number): Promise<void> {
    while (this.seen.length < count) await once(this.#events, 'wake');
  }
}

function watch(kind: 'low' | 'high', onWake: (wake: number, atNs: bigint, detail: number) => void): MemoryNotification {
  const notification = new native.MemoryNotification(kind, onWake);
  onTestFinished(() => notification.close());
  return notification;
}

// onTestFinished: afterEach would be for all files here (test/support/bundled-vitest.ts).
beforeEach(() => {
  onTestFinished(() => {
    condition('low', 'clear');
    condition('high', 'clear');
    expect(native.watchCount()).toBe(0);
  });
});

describe('MemoryNotification, fired by another process', () => {
  test.each(['low', 'high'] as const)('%s: the callback has a time of the clock of hrtime', async (kind) => {
    const wakes = new Wakes();
    const notification = watch(kind, wakes.onWake);
    expect([notification.live, notification.isSet(), wakes.seen]).toEqual([true, false, []]);
    const before = process.hrtime.bigint();
    condition(kind, 'set');
    await wakes.reach(1);
    const [[wake, atNs, detail] = []] = wakes.seen;
    expect([wake, detail, notification.isSet()]).toEqual([FIRED, 0, true]);
    expect(atNs).toBeGreaterThan(before);
    expect(atNs).toBeLessThan(process.hrtime.bigint());
    expect(notification.status()).toEqual({ mechanism: 'memory_notification', target: kind, live: true, errno: 0 });
  });

  test('a notification that is already set fires at once', async () => {
    condition('low', 'set');
    const wakes = new Wakes();
    watch('low', wakes.onWake);
    await wakes.reach(1);
  });

  test('fires once while it stays set, and again after it was clear', async () => {
    const wakes = new Wakes();
    watch('low', wakes.onWake);
    condition('low', 'set');
    await wakes.reach(1);
    await sleep(2 * LOOKED_AT_MS);
    condition('low', 'clear');
    await sleep(LOOKED_AT_MS);
    expect(wakes.seen).toHaveLength(1);
    condition('low', 'set');
    await wakes.reach(2);
    expect(wakes.seen).toHaveLength(2);
  });

  test('two kinds, and two of one kind, fire separately', async () => {
    const [low, other, high] = [new Wakes(), new Wakes(), new Wakes()];
    watch('low', low.onWake);
    watch('low', other.onWake);
    watch('high', high.onWake);
    condition('low', 'set');
    await Promise.all([low.reach(1), other.reach(1)]);
    expect(high.seen).toEqual([]);
  });

  test('two hundred at once, though one call waits for at most 63', async () => {
    const all = Array.from({ length: 200 }, () => new Wakes());
    const notifications = all.map((wakes) => watch('high', wakes.onWake));
    expect(native.watchCount()).toBe(200);
    for (const [i, notification] of notifications.entries()) if (i % 2 === 1) notification.close();
    condition('high', 'set');
    await Promise.all(all.filter((_, i) => i % 2 === 0).map((wakes) => wakes.reach(1)));
    expect(all.filter(({ seen }) => seen.length > 0)).toHaveLength(100);
  });
});

describe('the end of a MemoryNotification', () => {
  test('closed twice leaves it dead, and it fires no more', async () => {
    const wakes = new Wakes();
    const notification = watch('low', wakes.onWake);
    condition('low', 'set');
    await wakes.reach(1);
    notification.close();
    notification.close();
    expect([notification.live, notification.isSet(), native.watchCount()]).toEqual([false, false, 0]);
    condition('low', 'clear');
    condition('low', 'set');
    await sleep(LOOKED_AT_MS);
    expect(wakes.seen).toHaveLength(1);
  });

  test('closed before the callback prevents the callback', async () => {
    const [closed, other] = [new Wakes(), new Wakes()];
    const notification = watch('low', closed.onWake);
    watch('low', other.onWake);
    condition('low', 'set'); // blocks until the other process has set it
    notification.close();
    await other.reach(1);
    expect(closed.seen).toEqual([]);
  });

  test('may be closed in its own callback', async () => {
    const wakes = new Wakes();
    const notification = watch('low', (...wake) => {
      notification.close();
      wakes.onWake(...wake);
    });
    condition('low', 'set');
    await wakes.reach(1);
    expect([notification.live, native.watchCount()]).toEqual([false, 0]);
  });

  test('a worker may end with a live one that has fired', async () => {
    condition('low', 'set');
    const worker = new Worker(
      `${LOAD} const { parentPort } = require('node:worker_threads');
       new native.MemoryNotification('high', () => undefined);
       new native.MemoryNotification('low', () => parentPort.postMessage(native.watchCount()));`,
      { eval: true },
    );
    const ended = once(worker, 'exit');
    expect(await once(worker, 'message')).toEqual([2]);
    await worker.terminate();
    await ended;
    expect(native.watchCount()).toBe(0);
  });

  test.each([
    ['process.exit', 'process.exit(7)', 7],
    ['exitNow', 'native.exitNow(7)', 7],
    ['an exception', 'throw new Error("thrown")', 1],
    ['the end of its work after close()', 'watches.forEach((one) => one.close()); process.exitCode = 7', 7],
  ])('a process with live ones ends by %s', (_way, end, status) => {
    const script = `${LOAD} const watches = Array.from({ length: 70 }, () => new native.MemoryNotification('low', () => undefined)); ${end};`;
    expect(spawnSync(process.execPath, ['-e', script], { stdio: 'ignore' }).status).toBe(status);
  });

  test('live ones keep the event loop alive', () => {
    const script = `${LOAD} const low = new native.MemoryNotification('low', () => undefined);
      setTimeout(() => { low.close(); process.exitCode = 7; }, 300).unref();`;
    expect(spawnSync(process.execPath, ['-e', script], { stdio: 'ignore' }).status).toBe(7);
  });
});

test.each<[fault: string, kind: unknown, onWake: unknown]>([
  ['an unknown kind', 'medium', () => undefined],
  ['a missing kind', undefined, () => undefined],
  ['a missing function', 'low', undefined],
])('%s is refused', (_fault, kind, onWake) => {
  expect(thrownBy(() => new native.MemoryNotification(kind as 'low', onWake as () => void))).toMatchObject({
    code: 'ERR_INVALID_ARG_TYPE',
  });
});
