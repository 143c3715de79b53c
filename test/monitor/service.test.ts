import { afterEach, beforeEach, expect, test } from 'vitest';
import { openServiceManager } from '../../src/host/linux/service-manager.js';
import type { ServiceManager, StepReport } from '../../src/monitor/ports.js';
import { Service } from '../../src/monitor/service.js';
import { native } from '../../src/native/index.js';
import { eventually } from '../support/eventually.js';
import { receiveNotifications, type NotifyReceiver } from '../support/notify-receiver.js';

let receiver: NotifyReceiver;
let manager: ServiceManager;
let service: Service;

const start = async (env: NodeJS.ProcessEnv = {}): Promise<void> => {
  const address = `@evictd-test-${String(process.pid)}-${String(Math.random())}`;
  receiver = await receiveNotifications(address);
  const opened = openServiceManager(native, { ...env, NOTIFY_SOCKET: address });
  if (opened === undefined) throw new Error('no manager');
  manager = opened;
  service = new Service({ manager, what: 'guarding machine', isAlive: () => true });
};
/** The manager falls so far behind that it can be told nothing. */
const fallBehind = (): void => {
  receiver.pause();
  for (let left = 100_000; manager.tell('X=1'); left--) if (left === 0) throw new Error('it takes everything');
};
const step = (effects: StepReport['effects'] = []): void => {
  service.stepped({ effects } as StepReport);
};
const READY = 'READY=1|STATUS=guarding machine';
const told = () => receiver.told.filter((line) => line !== 'X=1');

beforeEach(() => start());
afterEach(async () => {
  service.close();
  await receiver.close();
});

test('a step in which nothing happens tells nothing', async () => {
  service.ready();
  step();
  manager.tell('END=1');
  await eventually('the last', () => told().includes('END=1'));
  expect(told()).toEqual([READY, 'END=1']);
});

test('READY=1 that a manager which has fallen behind did not get is repeated with a step, once', async () => {
  fallBehind();
  service.ready();
  receiver.resume();
  await eventually('it to be told', () => {
    step();
    return told().length > 0;
  });
  step();
  manager.tell('END=1');
  await eventually('the last', () => told().includes('END=1'));
  expect(told()).toEqual([READY, 'END=1']);
});

test('… or before a sign of life', async () => {
  await receiver.close();
  await start({ WATCHDOG_USEC: '20000' });
  fallBehind();
  service.ready();
  receiver.resume();
  await eventually('signs of life', () => told().includes('WATCHDOG=1'));
  expect(told().slice(0, 2)).toEqual([READY, 'WATCHDOG=1']);
});

test('a reload that begins takes it back: ready follows', async () => {
  fallBehind();
  service.ready();
  service.reloading();
  receiver.resume();
  await eventually('it to read again', () => manager.tell('X=1'));
  step();
  service.ready();
  await eventually('it to be told', () => told().length > 0);
  expect(told()).toEqual([READY]);
});

test('a status that was lost is told with the next step', async () => {
  service.ready();
  await eventually('it to be ready', () => told().length > 0);
  fallBehind();
  const condition = { kind: 'condition', type: 'MemoryPressure', status: true } as unknown as StepReport['effects'][number];
  step([condition]);
  receiver.resume();
  await eventually('it to be told', () => {
    step();
    return told().length > 1;
  });
  expect(told()).toEqual([READY, 'STATUS=guarding machine, MemoryPressure']);
});
