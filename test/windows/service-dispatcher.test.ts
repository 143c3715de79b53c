import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { addonPath } from '../../src/native/index.js';
import type { ServiceDispatcher } from '../../src/native/windows-binding.js';
import { native, thrownBy } from './native.js';
import { spawnSync } from './spawn.js';

const NAME = 'evictd-test';

// onTestFinished: afterEach would be for all files here (test/support/bundled-vitest.ts).
beforeEach(() => {
  onTestFinished(() => {
    expect(native.watchCount()).toBe(0);
  });
});

/** Waits for this report. */
function dispatcher(): [made: ServiceDispatcher, said: Promise<string>] {
  let tell: (control: string) => void;
  const said = new Promise<string>((resolve) => (tell = resolve));
  return [new native.ServiceDispatcher(NAME, (control) => tell(control)), said];
}

describe('ServiceDispatcher in a process that no service manager has started', () => {
  test('fails with the reason', () => {
    const script = `const native = require(${JSON.stringify(addonPath)});
      const made = new native.ServiceDispatcher('x', (control) => { made.close(); made.close(); process.exitCode = control === 'failed' ? made.errno() : 1; });`;
    const { status } = spawnSync(process.execPath, ['-e', script], { stdio: 'ignore' });
    expect(status).toBe(1063); // ERROR_FAILED_SERVICE_CONTROLLER_CONNECT
  });

  test('fails a second time, because a process may connect only once', async () => {
    const failures: number[] = [];
    for (let times = 0; times < 2; times++) {
      const [made, said] = dispatcher();
      expect(await said).toBe('failed');
      failures.push(made.errno());
      made.close();
    }
    expect(failures[1]).toBe(1056); // ERROR_SERVICE_ALREADY_RUNNING
  });

  test('reports nothing', async () => {
    const [made, said] = dispatcher();
    await said;
    expect(thrownBy(() => made.report('running'))).toMatchObject({ code: 'ERROR_SERVICE_NOT_ACTIVE', syscall: 'SetServiceStatus' });
    expect(thrownBy(() => made.report('paused' as 'running'))).toMatchObject({ code: 'ERR_OUT_OF_RANGE' });
    made.close();
  });

  test('closed at once does not call', () => {
    const made = new native.ServiceDispatcher(NAME, () => {
      throw new Error('called');
    });
    made.close();
    expect(native.watchCount()).toBe(0);
  });

  test('lets a worker end with one', async () => {
    const worker = new Worker(
      `const native = require(${JSON.stringify(addonPath)});
       new native.ServiceDispatcher('x', (control) => require('node:worker_threads').parentPort.postMessage(control));`,
      { eval: true },
    );
    const ended = once(worker, 'exit');
    expect(await once(worker, 'message')).toEqual(['failed']);
    await worker.terminate();
    await ended;
  });
});
