import { expect, test } from 'vitest';
import { serviceStop, type ServiceStatus, type ServiceStop } from '../../../src/core/windows/windows-service.js';

test.each<[state: ServiceStatus['state'], takesIt: ServiceStop, otherwise: ServiceStop]>([
  ['start-pending', 'now', 'later'],
  ['running', 'now', 'never'],
  ['pause-pending', 'now', 'later'],
  ['paused', 'now', 'never'],
  ['continue-pending', 'now', 'later'],
  ['stop-pending', 'ending', 'ending'],
  ['stopped', 'ending', 'ending'],
])('a service that is %s would end on a stop request', (state, takesIt, otherwise) => {
  expect([serviceStop({ state, acceptsStop: true }), serviceStop({ state, acceptsStop: false })]).toEqual([takesIt, otherwise]);
});
