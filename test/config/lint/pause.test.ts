import { expect, test } from 'vitest';
import { pauseRule } from '../../../src/config/lint/pause.js';
import { SECOND } from '../../core/support.js';
import { subject } from './support.js';

test.each([
  ['the default', 4n, 0],
  ['a day', 24n, 0],
  ['longer than a day', 25n, 1],
])('pause.max: %s', (_rule, hours, findings) => {
  expect(pauseRule.find(subject([], { maxPauseNs: hours * 3_600n * SECOND }), undefined)).toHaveLength(findings);
});
