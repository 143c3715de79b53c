import { expect, test } from 'vitest';
import { serviceStop, type ServiceStatus, type ServiceStop } from '../../../src/core/windows/windows-service.js';

test.each<[state: ServiceStatus['state'], takesIt: ServiceStop, otherwise: ServiceStop]>([
  ['start-pending', 'now', 'later'],
  ['running', 'now', 'never'],
  ['pause-pending', 'now', 'later'],
  ['paused', 'now', 'never'],
  ['continue-pending', 'now', 'later'],
  ['stop-pending', 'unasked', 'unasked'],
  ['stopped', 'unasked', 'unasked'],
])('told to stop, a service that is %s would end', (state, takesIt, otherwise) => {
  expect([serviceStop({ state, acceptsStop: true }), serviceStop({ state, acceptsStop: false })]).toEqual([takesIt, otherwise]);
});
