import { afterEach, beforeEach, expect, test } from 'vitest';
import { openServiceManager } from '../../../src/host/linux/process/service-manager.js';
import type { ServiceManager, StepReport } from '../../../src/monitor/ports/ports.js';
import { Service } from '../../../src/features/service/service-notifications.js';
import { native } from '../../../src/native/index.js';
import { eventually } from '../../support/eventually.js';
import { receiveNotifications, type NotifyReceiver } from '../../support/notify-receiver.js';

let receiver: NotifyReceiver;
let manager: ServiceManager;
let service: Service;

const start = async (env: NodeJS.ProcessEnv = {}): Promise<void> => {
  const address = `@evictd-test-${String(process.pid)}-${String(Math.random())}`;
  receiver = await receiveNotifications(address);
  const opened = openServiceManager(native, { ...env, NOTIFY_SOCKET: address });
  if (opened === undefined) throw new Error('no manager');
  manager = opened;
  service = new Service({ manager, what: () => 'guarding machine' });
};
/** The manager is so far behind that nothing can be sent to it. */
const fallBehind = async (): Promise<void> => {
  await receiver.pause();
  for (let left = 100_000; manager.notify('X=1'); left--) if (left === 0) throw new Error('it takes everything');
};
/** The manager has read everything, so that there is room again. */
const catchUp = async (): Promise<void> => {
  receiver.resume();
  await eventually('it to read again', () => manager.notify('X=2'));
  await eventually('it to have read everything', () => receiver.messages.includes('X=2'));
};
const step = (effects: StepReport['effects'] = []): void => {
  service.stepped({ effects } as StepReport);
};
const READY = 'READY=1|STATUS=guarding machine';
const reported = () => receiver.messages.filter((line) => !line.startsWith('X='));

beforeEach(() => start());
afterEach(async () => {
  service.close();
  await receiver.close();
});

test('a step without an effect sends nothing', async () => {
  service.ready();
  step();
  manager.notify('END=1');
  await eventually('the last', () => reported().includes('END=1'));
  expect(reported()).toEqual([READY, 'END=1']);
});

test('a READY=1 that the busy manager did not receive is repeated with a step, once', async () => {
  await fallBehind();
  service.ready();
  receiver.resume();
  await eventually('a message to be sent', () => {
    step();
    return reported().length > 0;
  });
  step();
  manager.notify('END=1');
  await eventually('the last', () => reported().includes('END=1'));
  expect(reported()).toEqual([READY, 'END=1']);
});

const WATCHDOG_NS = 1_000_000_000n;
const watched = async (): Promise<bigint> => {
  await receiver.close();
  await start({ WATCHDOG_USEC: '1000000' });
  const dueAtNs = service.dueAtNs();
  if (dueAtNs === undefined) throw new Error('no watchdog');
  return dueAtNs;
};

test('a READY=1 that the busy manager did not receive is repeated before WATCHDOG=1', async () => {
  const dueAtNs = await watched();
  await fallBehind();
  service.ready();
  await catchUp();
  service.beat(dueAtNs);
  await eventually('a sign of life', () => reported().includes('WATCHDOG=1'));
  expect(reported()).toEqual([READY, 'WATCHDOG=1']);
});

test('WATCHDOG=1 is sent after a pass, and not for a pass directly after it', async () => {
  const dueAtNs = await watched();
  service.beat(dueAtNs - WATCHDOG_NS / 4n - 1n); // the start counts as a pass
  service.beat(dueAtNs);
  expect(service.dueAtNs()).toBe(dueAtNs + WATCHDOG_NS / 2n);
  service.beat(dueAtNs + WATCHDOG_NS / 4n - 1n);
  expect(service.dueAtNs()).toBe(dueAtNs + WATCHDOG_NS / 2n);
  service.beat(dueAtNs + WATCHDOG_NS / 4n);
  expect(service.dueAtNs()).toBe(dueAtNs + (WATCHDOG_NS * 3n) / 4n);
  manager.notify('END=1');
  await eventually('the last', () => reported().includes('END=1'));
  expect(reported()).toEqual(['WATCHDOG=1', 'WATCHDOG=1', 'END=1']);
});

test('a WATCHDOG=1 that the manager did not receive is due again soon, and not at once', async () => {
  const dueAtNs = await watched();
  await fallBehind();
  service.beat(dueAtNs);
  expect(service.dueAtNs()).toBe(dueAtNs + WATCHDOG_NS / 16n);
  receiver.resume();
});

test('without a watchdog no pass is due, and nothing is sent', async () => {
  expect(service.dueAtNs()).toBeUndefined();
  service.beat(process.hrtime.bigint() + 3600n * WATCHDOG_NS);
  manager.notify('END=1');
  await eventually('the last', () => reported().includes('END=1'));
  expect(reported()).toEqual(['END=1']);
});

test('RELOADING=1 takes READY=1 back, and READY=1 follows', async () => {
  await fallBehind();
  service.ready();
  service.reloading();
  await catchUp();
  step();
  service.ready();
  await eventually('a message to be sent', () => reported().length > 0);
  expect(reported()).toEqual([READY]);
});

test('a status that could not be sent is sent with the next step', async () => {
  service.ready();
  await eventually('it to be ready', () => reported().length > 0);
  await fallBehind();
  const condition = { kind: 'condition', type: 'MemoryPressure', status: true } as unknown as StepReport['effects'][number];
  step([condition]);
  receiver.resume();
  await eventually('a message to be sent', () => {
    step();
    return reported().length > 1;
  });
  expect(reported()).toEqual([READY, 'STATUS=guarding machine, MemoryPressure']);
});
