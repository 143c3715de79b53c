import { expect, test } from 'vitest';
import { openServiceManager } from '../../../src/host/windows/windows-service-manager.js';
import type { ServiceManager } from '../../../src/monitor/ports/ports.js';
import type { ServiceDispatcher, WindowsBinding } from '../../../src/native/windows-binding.js';

type Control = Parameters<ConstructorParameters<WindowsBinding['ServiceDispatcher']>[1]>[0];

/** Records the reports to the manager: a real one needs a service. */
class Dispatcher {
  readonly reports: string[] = [];
  refuses = false;
  isClosed = false;
  isAskedToStop = false;
  control: (control: Control) => void = () => undefined;
  readonly manager: ServiceManager;

  constructor() {
    const played = this; // oxlint-disable-line typescript/no-this-alias -- the constructor of the contract is a class of its own
    class Played implements ServiceDispatcher {
      constructor(_name: string, onControl: (control: Control) => void) {
        played.control = onControl;
      }
      errno = () => 0;
      report = (state: string) => {
        if (played.refuses) throw new Error('refused');
        played.reports.push(state);
      };
      close = () => {
        played.isClosed = true;
      };
    }
    this.manager = openServiceManager({ ServiceDispatcher: Played }, () => {
      this.isAskedToStop = true;
    });
  }
}

test('a service is start-pending until the loop runs, then running, then stop-pending, and stopped when all is written', () => {
  const played = new Dispatcher();
  const { manager } = played;
  played.control('start');
  manager.notify('READY=1', 'STATUS=guarding machine');
  manager.notify('STATUS=guarding machine; evictions: 1');
  played.control('stop');
  expect(played.isAskedToStop).toBe(true);
  manager.notify('STOPPING=1', 'STATUS=stopping');
  manager.close();
  expect(played.reports).toEqual(['start-pending', 'running', 'stop-pending']);
  manager.ended();
  expect(played.reports.at(-1)).toBe('stopped');
  expect(played.isClosed).toBe(true);
});

test('a status set before the manager has called is reported when it calls', () => {
  const played = new Dispatcher();
  played.manager.notify('READY=1');
  expect(played.reports).toEqual([]);
  played.control('start');
  expect(played.reports).toEqual(['running']);
});

test.each<Control>(['stop', 'shutdown'])('%s asks evictd to end, and the service does not run any more after that', (control) => {
  const played = new Dispatcher();
  played.control('start');
  played.control(control);
  played.manager.notify('READY=1');
  expect(played.reports).toEqual(['start-pending', 'stop-pending']);
});

test('a process without a service manager reports nothing', () => {
  const played = new Dispatcher();
  played.control('failed');
  expect(played.manager.notify('READY=1')).toBe(true);
  played.manager.ended();
  expect(played.reports).toEqual([]);
  expect(played.isAskedToStop).toBe(false);
});

test('a refused report ends reporting without an error', () => {
  const played = new Dispatcher();
  played.refuses = true;
  played.control('start');
  played.refuses = false;
  played.manager.notify('READY=1');
  expect(played.reports).toEqual([]);
});
